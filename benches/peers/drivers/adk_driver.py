"""Google ADK: an LlmAgent that reaches the server through LiteLLM."""

from common import MODEL, TASK, args, echo_body, run_async

from google.adk.agents import LlmAgent, RunConfig
from google.adk.models.lite_llm import LiteLlm
from google.adk.runners import InMemoryRunner
from google.genai import types


async def echo(text: str) -> str:
    """Echo the text."""
    return echo_body(text)


model = LiteLlm(model=f"openai/{MODEL}", api_base=args.base_url, api_key="none")
runner = InMemoryRunner(LlmAgent(name="bench", model=model, tools=[echo]), app_name="bench")


async def loop_once():
    session = await runner.session_service.create_session(app_name="bench", user_id="u")
    message = types.Content(role="user", parts=[types.Part(text=TASK)])
    async for _ in runner.run_async(
        user_id="u", session_id=session.id, new_message=message, run_config=RunConfig(max_llm_calls=0)
    ):
        pass


run_async(loop_once)
