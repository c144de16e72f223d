"""OpenAI Agents SDK: an agent on the chat-completions model."""

from common import MODEL, TASK, args, echo_body, run_async

from agents import Agent, OpenAIChatCompletionsModel, Runner, function_tool, set_tracing_disabled
from openai import AsyncOpenAI

set_tracing_disabled(True)


@function_tool
async def echo(text: str) -> str:
    """Echo the text."""
    return echo_body(text)


client = AsyncOpenAI(base_url=args.base_url, api_key="none", max_retries=0)
agent = Agent(name="bench", model=OpenAIChatCompletionsModel(MODEL, client), tools=[echo])


async def loop_once():
    await Runner.run(agent, TASK, max_turns=args.steps + 2)


run_async(loop_once)
