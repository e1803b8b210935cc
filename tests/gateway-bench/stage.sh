# What both measurements stand on: a folder, nginx in front of the mock, and an end that leaves nothing
# behind. Wants the addresses `mock` and `nginx`, and of nginx `nginx_buffer` (for a request's body) and
# `nginx_buffering` (of answers: on or off). Sourced, not run.
# shellcheck shell=bash disable=SC2154

folder=$(mktemp -d)
started=()
finish() {
    for pid in "${started[@]}"; do kill "$pid" 2>/dev/null || true; done
    wait 2>/dev/null || true
    rm -rf "$folder"
}
trap finish EXIT

cat >"$folder/nginx.conf" <<CONF
daemon off;
worker_processes auto;
pid $folder/nginx.pid;
error_log $folder/error.log;
events { worker_connections 1024; }
http {
    access_log off;
    client_body_temp_path $folder/body;
    proxy_temp_path $folder/proxy;
    fastcgi_temp_path $folder/fastcgi;
    uwsgi_temp_path $folder/uwsgi;
    scgi_temp_path $folder/scgi;
    keepalive_requests 100000000;
    upstream mock { server $mock; keepalive 256; keepalive_requests 100000000; }
    server {
        listen $nginx;
        client_max_body_size 64m;
        client_body_buffer_size $nginx_buffer;
        location / {
            proxy_pass http://mock;
            proxy_http_version 1.1;
            proxy_buffering $nginx_buffering;
            proxy_set_header Connection "";
        }
    }
}
CONF
nginx -p "$folder" -c "$folder/nginx.conf" & started+=($!)

# Everybody must listen before anything is measured: a minute is for LiteLLM.
listening() {
    for _ in $(seq 1200); do
        if (exec 3<>"/dev/tcp/${1/:/\/}") 2>/dev/null; then return; fi
        sleep 0.05
    done
    echo "nothing listens on $1" >&2
    exit 1
}
