# A container with nothing in it but the server: no shell, no root.
#
#   docker build -t beacon .
#   docker run -p 8080:8080 -v beacon:/data beacon
#   docker exec CONTAINER /beacon keys create --user new --scopes admin
#
# Settings are given as in the environment: -e BEACON_DB=postgres://…
# Metrics are on 127.0.0.1:9090 inside; -e BEACON_ADMIN_ADDR=0.0.0.0:9090 shows
# them to the container's network. /healthz and /readyz are for a supervisor.

FROM golang:1.26 AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
# With .git, so that "beacon version" tells the commit.
COPY . .
RUN CGO_ENABLED=0 go build -trimpath -ldflags="-s -w" -o /out/beacon ./cmd/beacon \
    && /out/beacon version \
    && mkdir -p /out/data /out/tmp \
    && chmod 0700 /out/data \
    && chmod 1777 /out/tmp

FROM scratch
# To reach a PostgreSQL over TLS. Time zones are in the binary.
COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/ca-certificates.crt
COPY --from=build /out/tmp /tmp
COPY --from=build --chown=65532:65532 /out/data /data
COPY --from=build /out/beacon /beacon
ENV BEACON_ADDR=0.0.0.0:8080 \
    BEACON_DB=/data/beacon.db
USER 65532:65532
WORKDIR /data
VOLUME /data
EXPOSE 8080
STOPSIGNAL SIGTERM
ENTRYPOINT ["/beacon"]
CMD ["serve"]
