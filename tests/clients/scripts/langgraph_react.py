"""LangGraph's ready-made agent with LangChain's model of OpenAI's Chat Completions."""

from langchain_openai import ChatOpenAI
from langgraph.prebuilt import create_react_agent

from shell import INSTRUCTIONS, MAX_TURNS, MODEL, PROMPT, STREAM, URL, run_shell

model = ChatOpenAI(model=MODEL, base_url=f"{URL}/v1", api_key="none", streaming=STREAM)
agent = create_react_agent(model, [run_shell], prompt=INSTRUCTIONS)
task = {"messages": [("user", PROMPT)]}
# Asking the model and running its calls are a step each.
settings = {"recursion_limit": 2 * MAX_TURNS}

if STREAM:
    for state in agent.stream(task, settings, stream_mode="values"):
        ended = state
else:
    ended = agent.invoke(task, settings)
print(ended["messages"][-1].content)
