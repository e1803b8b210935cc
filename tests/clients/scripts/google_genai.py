"""Google's SDK: the loop of its guide to function calling, without the SDK's own."""

from google import genai
from google.genai import types

from shell import DESCRIPTION, INSTRUCTIONS, MAX_TURNS, MODEL, PARAMETERS, PROMPT, STREAM, URL, run_shell

client = genai.Client(api_key="none", http_options=types.HttpOptions(base_url=URL))
parameters = {name: value for name, value in PARAMETERS.items() if name != "additionalProperties"}
declared = types.FunctionDeclaration(name="run_shell", description=DESCRIPTION, parameters_json_schema=parameters)
config = types.GenerateContentConfig(
    system_instruction=INSTRUCTIONS,
    tools=[types.Tool(function_declarations=[declared])],
    automatic_function_calling=types.AutomaticFunctionCallingConfig(disable=True),
)
contents = [types.Content(role="user", parts=[types.Part(text=PROMPT)])]


def ask():
    question = {"model": MODEL, "contents": contents, "config": config}
    if not STREAM:
        return client.models.generate_content(**question).candidates[0].content
    parts = []
    for chunk in client.models.generate_content_stream(**question):
        parts += chunk.candidates[0].content.parts or []
    return types.Content(role="model", parts=parts)


for _ in range(MAX_TURNS):
    content = ask()
    contents.append(content)
    results = [
        types.Part.from_function_response(
            name=part.function_call.name, response={"result": run_shell(**part.function_call.args)}
        )
        for part in content.parts
        if part.function_call
    ]
    if not results:
        break
    contents.append(types.Content(role="user", parts=results))
else:
    raise SystemExit("nobody ended this")
print("".join(part.text or "" for part in content.parts))
