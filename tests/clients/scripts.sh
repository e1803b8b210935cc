# Scripts on SDKs and frameworks: how each is installed and run. Sourced behind testdata/record/clients.sh.
# A name that ends in `-stream` is the same script asking for streamed answers; with `-kept` (before that) it leaves its
# conversation to the server.

SCRIPTS='openai-chat openai-responses openai-responses-kept anthropic google-genai openai-agents openai-agents-kept
pydantic-ai langgraph'

# The script's name without what is asked of it.
base_of() { local name=${1%-stream}; echo "${name%-kept}"; }

# What is installed for a script, pinned; nothing for what is no script. A new version may behave differently: change
# the number, run again, and write what came of it into docs/gateway.md.
packages_of() {
  case $(base_of "$1") in
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
  case $(base_of "$1") in
    openai-agents) echo openai-agents ;;
    openai-*) echo openai ;;
    *) base_of "$1" ;;
  esac
}

# Whether the gateway does not know the client and only watches it by default.
is_unknown() {
  case $(base_of "$1") in
    mini-swe-agent | openai-chat | openai-responses | anthropic | google-genai | langgraph) return 0 ;;
    *) return 1 ;;
  esac
}

run_script() {
  local script asked=()
  case $1 in *-stream) asked+=(--stream) ;; esac
  case ${1%-stream} in *-kept) asked+=(--kept) ;; esac
  case $(base_of "$1") in
    openai-chat) script=openai_chat ;;
    openai-responses) script=openai_responses ;;
    anthropic) script=anthropic_messages ;;
    google-genai) script=google_genai ;;
    openai-agents) script=openai_agents ;;
    pydantic-ai) script=pydantic_agent ;;
    langgraph) script=langgraph_react ;;
  esac
  "$tools/bin/python" "$here/scripts/$script.py" "${asked[@]}" "$url" "$prompt"
}
