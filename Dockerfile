# One image for gateway and workers; docker-compose.yml says which runs.
FROM node:20-slim AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci --include=dev
COPY tsconfig.json ./
COPY src src
COPY workflows workflows
COPY activities activities
COPY temporal temporal
COPY bench bench
RUN node temporal/build.js && npm prune --omit=dev

FROM node:20-slim
ENV NODE_ENV=production
WORKDIR /app
# The SDK's core checks certificates against the system's; commands run in bubblewrap, and most of them want git.
RUN apt-get update && apt-get install -y --no-install-recommends ca-certificates bubblewrap git && rm -rf /var/lib/apt/lists/*
COPY --from=build /app/package.json ./
COPY --from=build /app/node_modules node_modules
COPY --from=build /app/dist dist
COPY bin bin
RUN mkdir -p /data /workspaces && chown node:node /data /workspaces
USER node
ENV PARLEY_DATA=/data
EXPOSE 3000
CMD ["node", "--enable-source-maps", "dist/src/server.js"]
