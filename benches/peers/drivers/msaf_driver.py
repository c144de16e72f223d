"""Microsoft Agent Framework: an agent on the chat-completions client."""

from typing import Annotated

from common import MODEL, TASK, args, echo_body, run_async

from agent_framework import Agent, tool
from agent_framework.openai import OpenAIChatCompletionClient


@tool(approval_mode="never_require")
async def echo(text: Annotated[str, "text"]) -> str:
    """Echo the text."""
    return echo_body(text)


client = OpenAIChatCompletionClient(
    model=MODEL,
    base_url=args.base_url,
    api_key="none",
    function_invocation_configuration={"max_iterations": args.steps + 2},
)
agent = Agent(client, name="bench", tools=[echo])


async def loop_once():
    await agent.run(TASK)


run_async(loop_once)
