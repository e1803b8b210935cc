"""Serves a GGUF model over loopback with llama.cpp's HTTP server, as OpenAI Chat Completions.

usage: OMP_WAIT_POLICY=passive NT=1 python serve.py MODEL.gguf PORT [CONTEXT]
Needs the package xllamacpp. One thread with the passive wait suits a machine that is shared.
"""
import os
import signal
import sys

import xllamacpp

params = xllamacpp.CommonParams()
params.model.path = sys.argv[1]
params.hostnames = ["127.0.0.1"]
params.port = int(sys.argv[2])
params.n_ctx = int(sys.argv[3]) if len(sys.argv) > 3 else 8192
threads = int(os.environ.get("NT", "1"))
params.n_parallel = 1
params.use_jinja = True
params.offline = True
params.ui = False
params.cpuparams.n_threads = threads
params.cpuparams_batch.n_threads = threads
params.n_gpu_layers = 0
server = xllamacpp.Server(params)
print("ready", server.listening_address, flush=True)
signal.pause()
