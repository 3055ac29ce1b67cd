"""llama.cpp's own HTTP server, with one model: `python llama_process.py GGUF PORT CONTEXT`."""

import sys

import xllamacpp


def serve(model: str, port: int, context: int) -> None:
    """Serve a model until the standard input ends."""
    params = xllamacpp.CommonParams()
    params.model.path = model
    params.hostnames = ["127.0.0.1"]
    params.port = port
    params.n_ctx = context
    params.n_parallel = 1
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
    params.warmup = False
    params.cache_ram_mib = 0
    params.verbosity = -1
    server = xllamacpp.Server(params)
    sys.stdin.read()
    del server


if __name__ == "__main__":
    serve(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
