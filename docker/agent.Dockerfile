# Small enough for a RouterOS container: Node and one file.
FROM node:24-bookworm-slim AS build
WORKDIR /app
COPY package.json package-lock.json ./
RUN npm ci
COPY . .
RUN npm run build:agent

FROM node:24-alpine
COPY --from=build /app/dist/signalbox-agent.cjs /usr/local/lib/signalbox-agent.cjs
RUN mkdir -p /etc/signalbox /var/lib/signalbox && chown node:node /var/lib/signalbox
USER node
VOLUME /var/lib/signalbox
ENTRYPOINT ["node", "/usr/local/lib/signalbox-agent.cjs"]
CMD ["run", "--config", "/etc/signalbox/agent.yaml"]
