# For a Docker host. Images for RouterOS containers are made by `npm run build:image` (docs/agent-in-routeros.md).
FROM node:24-bookworm-slim AS build
WORKDIR /app
COPY package.json package-lock.json ./
RUN npm ci
COPY . .
RUN npm run build:agent

FROM node:24-alpine
COPY --from=build /app/dist/signalbox-agent.cjs /usr/local/lib/signalbox-agent.cjs
# /etc/signalbox is for agent.yaml and may be mounted read-only. The agent writes its state, and at `enrol` its
# credentials, into the volume alone; a named volume takes its owner from the folder of the image. A folder of the host
# that is mounted there instead must belong to uid 1000.
RUN mkdir -p /etc/signalbox /var/lib/signalbox-agent && chmod 700 /var/lib/signalbox-agent && chown node:node /var/lib/signalbox-agent
USER node
VOLUME /var/lib/signalbox-agent
ENTRYPOINT ["node", "/usr/local/lib/signalbox-agent.cjs"]
CMD ["run", "--config", "/etc/signalbox/agent.yaml"]
