"""OpenAI's agents SDK, over Responses as it does by default, with the conversation kept by itself or by the server."""

import asyncio

from agents import Agent, Runner, function_tool, set_default_openai_client, set_tracing_disabled
from openai import AsyncOpenAI

from shell import INSTRUCTIONS, KEPT, MAX_TURNS, MODEL, PROMPT, STREAM, URL, run_shell

set_default_openai_client(AsyncOpenAI(base_url=f"{URL}/v1", api_key="none"), use_for_tracing=False)
set_tracing_disabled(True)
agent = Agent(name="Dev", instructions=INSTRUCTIONS, model=MODEL, tools=[function_tool(run_shell)])


async def main():
    if not STREAM:
        return await Runner.run(agent, PROMPT, max_turns=MAX_TURNS, auto_previous_response_id=KEPT)
    result = Runner.run_streamed(agent, PROMPT, max_turns=MAX_TURNS, auto_previous_response_id=KEPT)
    async for _ in result.stream_events():
        pass
    return result


print(asyncio.run(main()).final_output)
