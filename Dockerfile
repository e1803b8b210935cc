# The gateway in a container. See "In a container" in docs/gateway.md.
FROM rust:1.95-bookworm AS build
RUN apt-get update \
    && apt-get install --yes --no-install-recommends cmake pkg-config \
    && rm -rf /var/lib/apt/lists/*
WORKDIR /src
COPY . .
RUN cargo build --profile dist --locked --package steersman

FROM debian:bookworm-slim
RUN apt-get update \
    && apt-get install --yes --no-install-recommends ca-certificates curl \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --system --uid 10001 --home-dir /var/lib/steersman --create-home steersman
COPY --from=build /src/target/dist/steersman /usr/local/bin/steersman
USER 10001
WORKDIR /etc/steersman
ENV STEERSMAN_STATE=/var/lib/steersman
VOLUME /var/lib/steersman
EXPOSE 8700
# Answers that are streaming go on for shutdown_grace_ms after this.
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=3s --start-period=5s \
    CMD ["curl", "--fail", "--silent", "--output", "/dev/null", "http://127.0.0.1:8700/healthz"]
ENTRYPOINT ["steersman"]
CMD ["serve", "--config", "/etc/steersman/gateway.yaml"]
