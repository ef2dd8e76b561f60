# For a Docker host. `npm run build:image` builds the images for RouterOS containers (docs/agent-in-routeros.md).
FROM node:24-bookworm-slim AS package
WORKDIR /app
COPY package.json package-lock.json ./
RUN npm ci
COPY . .
RUN npm pack --pack-destination /package && tar -xzf /package/signalbox-*.tgz --directory /

FROM node:24-alpine
COPY --from=package /package/dist/signalbox-agent.cjs /usr/local/lib/signalbox-agent.cjs
# /etc/signalbox holds agent.yaml and may be mounted read-only. The agent writes only to the volume: its state, and at `enrol`
# its credentials. A named volume takes its owner from this folder of the image; a host folder mounted there must belong to
# uid 1000.
RUN mkdir -p /etc/signalbox /var/lib/signalbox-agent && chmod 700 /var/lib/signalbox-agent && chown node:node /var/lib/signalbox-agent
USER node
VOLUME /var/lib/signalbox-agent
ENTRYPOINT ["node", "/usr/local/lib/signalbox-agent.cjs"]
CMD ["run", "--config", "/etc/signalbox/agent.yaml"]
