# How each client is installed, run, and where it writes its transcript. Sourced by record.sh.
# Every `run_*` starts in the workspace with HOME set; $url is the server, $prompt the task, $tools the installation.

CLIENTS='claude-code codex gemini-cli qwen-code opencode mini-swe-agent openhands'

# Pinned: a new version may write another format; change the number and record again.
version_of() {
  case $1 in
    claude-code) echo 2.1.330 ;;
    codex) echo 0.169.0 ;;
    gemini-cli) echo 0.61.0 ;;
    qwen-code) echo 0.24.4 ;;
    opencode) echo 1.18.33 ;;
    mini-swe-agent) echo 2.4.6 ;;
    openhands) echo 1.16.0 ;;
  esac
}

npm_install() { npm install --no-audit --no-fund --loglevel=error --prefix "$tools" "$@"; }

# A virtual environment needs Python 3.12 or newer here; RECORD_PYTHON names one.
pip_install() {
  "${RECORD_PYTHON:-python3}" -m venv "$tools"
  "$tools/bin/pip" install --quiet --disable-pip-version-check "$@"
}

install_client() {
  v=$(version_of "$1")
  case $1 in
    claude-code) npm_install "@anthropic-ai/claude-code@$v" ;;
    codex) npm_install "@openai/codex@$v" node@22 ;;
    gemini-cli) npm_install "@google/gemini-cli@$v" node@22 ;;
    qwen-code) npm_install "@qwen-code/qwen-code@$v" node@22 ;;
    opencode) npm_install "opencode-ai@$v" ;;
    mini-swe-agent) pip_install "mini-swe-agent==$v" mcp ;; # it fails at every call without mcp
    openhands) pip_install "openhands==$v" ;;
  esac
}

run_claude_code() {
  ANTHROPIC_BASE_URL=$url ANTHROPIC_API_KEY=none CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1 \
    DISABLE_AUTOUPDATER=1 IS_SANDBOX=1 \
    claude -p "$prompt" --output-format json --dangerously-skip-permissions --max-turns 40
}

# The model's name decides which tools are offered; with this one apply_patch is among them.
run_codex() {
  mkdir -p "$HOME/.codex"
  CODEX_HOME=$HOME/.codex MODEL_KEY=none codex exec --disable plugins --json --skip-git-repo-check \
    --dangerously-bypass-approvals-and-sandbox \
    -c model_provider=local -c model_providers.local.name=local \
    -c "model_providers.local.base_url=$url/v1" -c model_providers.local.env_key=MODEL_KEY \
    -c model_providers.local.wire_api=responses -c model=gpt-5.5 "$prompt"
}

run_gemini_cli() {
  mkdir -p "$HOME/.gemini"
  echo '{"security": {"auth": {"selectedType": "gemini-api-key"}}, "privacy": {"usageStatisticsEnabled": false},
    "general": {"enableAutoUpdate": false}}' > "$HOME/.gemini/settings.json"
  GEMINI_API_KEY=none GOOGLE_GEMINI_BASE_URL=$url gemini -p "$prompt" --skip-trust --yolo -m gemini-2.5-pro \
    --output-format json
}

run_qwen_code() {
  mkdir -p "$HOME/.qwen"
  echo '{"privacy": {"usageStatisticsEnabled": false}, "general": {"enableAutoUpdate": false}}' \
    > "$HOME/.qwen/settings.json"
  OPENAI_API_KEY=none OPENAI_BASE_URL=$url/v1 OPENAI_MODEL=scripted qwen -p "$prompt" --yolo \
    --auth-type openai --output-format json
}

run_opencode() {
  settings='{"enabled_providers": ["local"], "permission": {"*": "allow"}, "model": "local/scripted",
    "autoupdate": false, "share": "disabled", "provider": {"local": {"npm": "@ai-sdk/openai-compatible",
    "options": {"baseURL": "'$url'/v1", "apiKey": "none"}, "models": {"scripted": {"name": "scripted",
    "limit": {"context": 200000, "output": 8000}}}}}}'
  OPENCODE_CONFIG_CONTENT=$settings opencode run --format json "$prompt"
  session=$(OPENCODE_CONFIG_CONTENT=$settings opencode session list --format json \
    | python3 -c 'import json, sys; print(json.load(sys.stdin)[-1]["id"])')
  OPENCODE_CONFIG_CONTENT=$settings opencode export "$session" > "$out/export.json"
}

run_mini_swe_agent() {
  OPENAI_API_BASE=$url/v1 OPENAI_API_KEY=none MSWEA_CONFIGURED=true MSWEA_COST_TRACKING=ignore_errors \
    LITELLM_LOCAL_MODEL_COST_MAP=True "$tools/bin/python" "$tools/bin/mini" -y --exit-immediately \
    -m openai/scripted -t "$prompt" -o "$HOME/run.traj.json" -c "$record/mini.yaml"
}

run_openhands() {
  LLM_MODEL=openai/scripted LLM_BASE_URL=$url/v1 LLM_API_KEY=none LITELLM_LOCAL_MODEL_COST_MAP=True \
    "$tools/bin/python" "$tools/bin/openhands" --headless --json --always-approve --override-with-envs \
    -t "$prompt"
}

run_client() {
  case $1 in
    claude-code) run_claude_code ;;
    codex) run_codex ;;
    gemini-cli) run_gemini_cli ;;
    qwen-code) run_qwen_code ;;
    opencode) run_opencode ;;
    mini-swe-agent) run_mini_swe_agent ;;
    openhands) run_openhands ;;
  esac
}

# Copies the transcript of the only session in HOME to $out/transcript.
keep_transcript() {
  case $1 in
    claude-code) cat "$HOME"/.claude/projects/*/*.jsonl ;;
    codex) cat "$HOME"/.codex/sessions/*/*/*/rollout-*.jsonl ;;
    gemini-cli) cat "$HOME"/.gemini/tmp/*/chats/session-*.jsonl ;;
    qwen-code) cat "$HOME"/.qwen/projects/*/chats/*.jsonl ;;
    opencode) cat "$out/export.json" ;;
    mini-swe-agent) cat "$HOME/run.traj.json" ;;
    openhands)
      # One file an event; in the order of their names they make one JSON lines file.
      for event in "$HOME"/.openhands/conversations/*/events/event-*.json; do
        cat "$event"
        echo
      done
      ;;
  esac > "$out/transcript"
}

ending_of() {
  case $1 in
    opencode) echo json ;;
    mini-swe-agent) echo traj.json ;;
    *) echo jsonl ;;
  esac
}
