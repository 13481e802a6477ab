# Not Node 24: to optimise one function of the embedded database, its compiler takes 600 MB for a second, at each start.
FROM node:26-slim AS build
WORKDIR /app
COPY package.json package-lock.json tsconfig.json tsconfig.build.json ./
COPY scripts scripts
COPY src src
COPY plugins plugins
RUN npm ci && npm prune --omit=dev --ignore-scripts

# The wheel runs inside a conserver: compose shares /wheels with it.
FROM python:3.13-slim AS wheel
COPY plugins/python /python
RUN python3 /python/build_wheel.py /wheels

FROM node:26-slim
WORKDIR /app
ENV NODE_ENV=production HOST=0.0.0.0 DATA_DIR=/data
COPY --from=build /app/package.json ./
COPY --from=build /app/node_modules node_modules
COPY --from=build /app/dist dist
COPY --from=wheel /wheels /wheels
RUN mkdir /data && chown node /data && ln -s /app/dist/src/cli/vcon-archivist.js /usr/local/bin/vcon-archivist
USER node
VOLUME /data
EXPOSE 8080 8081
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s CMD ["node", "-e", "fetch('http://127.0.0.1:' + (process.env.PORT || 8080) + '/readyz').then(a => process.exit(a.ok ? 0 : 1), () => process.exit(1))"]
CMD ["node", "dist/src/main.js"]
