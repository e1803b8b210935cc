"""pydantic-ai, over Chat Completions."""

import asyncio

from pydantic_ai import Agent
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider
from pydantic_ai.usage import UsageLimits

from shell import INSTRUCTIONS, MAX_TURNS, MODEL, PROMPT, STREAM, URL, run_shell

provider = OpenAIProvider(base_url=f"{URL}/v1", api_key="none")
agent = Agent(OpenAIChatModel(MODEL, provider=provider), instructions=INSTRUCTIONS, tools=[run_shell])
limits = UsageLimits(request_limit=MAX_TURNS)


async def main():
    async def watch(_, events):
        async for _ in events:
            pass

    result = await agent.run(PROMPT, usage_limits=limits, event_stream_handler=watch if STREAM else None)
    print(result.output)


asyncio.run(main())
