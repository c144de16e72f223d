"""Pydantic AI: an agent on the OpenAI chat model."""

from common import MODEL, TASK, args, echo_body, run_async

from pydantic_ai import Agent
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider
from pydantic_ai.usage import UsageLimits

agent = Agent(OpenAIChatModel(MODEL, provider=OpenAIProvider(base_url=args.base_url, api_key="none")))


@agent.tool_plain
async def echo(text: str) -> str:
    """Echo the text."""
    return echo_body(text)


async def loop_once():
    await agent.run(TASK, usage_limits=UsageLimits(request_limit=None))


run_async(loop_once)
