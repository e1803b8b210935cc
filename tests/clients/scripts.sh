# Scripts on SDKs and frameworks: how each is installed and run. Sourced behind testdata/record/clients.sh.
# A name that ends in `-stream` is the same script asking for streamed answers.

SCRIPTS='openai-chat openai-responses anthropic google-genai openai-agents pydantic-ai langgraph'

# What is installed for a script, pinned; nothing for what is no script. A new version may behave differently: change
# the number, run again, and write what came of it into docs/gateway.md.
packages_of() {
  case ${1%-stream} in
    openai-chat | openai-responses) echo openai==3.54.0 ;;
    anthropic) echo anthropic==2.12.0 ;;
    google-genai) echo google-genai==3.4.0 ;;
    openai-agents) echo openai-agents==0.24.0 ;;
    pydantic-ai) echo 'pydantic-ai-slim[openai]==2.68.0' ;;
    langgraph) echo langgraph==1.2.22 langchain-openai==1.7.3 ;;
  esac
}

# The folder it is installed in: scripts on one package share it.
folder_of() {
  case ${1%-stream} in
    openai-*) [ "${1%-stream}" = openai-agents ] && echo openai-agents || echo openai ;;
    *) echo "${1%-stream}" ;;
  esac
}

# Whether the gateway does not know the client and only watches it by default.
is_unknown() {
  case ${1%-stream} in
    mini-swe-agent | openai-chat | openai-responses | anthropic | google-genai | langgraph) return 0 ;;
    *) return 1 ;;
  esac
}

run_script() {
  local script=$1 stream=()
  case $script in *-stream) stream=(--stream) ;; esac
  case ${script%-stream} in
    openai-chat) script=openai_chat ;;
    openai-responses) script=openai_responses ;;
    anthropic) script=anthropic_messages ;;
    google-genai) script=google_genai ;;
    openai-agents) script=openai_agents ;;
    pydantic-ai) script=pydantic_agent ;;
    langgraph) script=langgraph_react ;;
  esac
  "$tools/bin/python" "$here/scripts/$script.py" "${stream[@]}" "$url" "$prompt"
}
