import cluster from 'node:cluster'
import { existsSync, readFileSync } from 'node:fs'
import { createServer as http2Server, createSecureServer as http2SecureServer } from 'node:http2'
import { createServer as httpsServer } from 'node:https'
import { availableParallelism } from 'node:os'
import { type App, createApp } from 'sequitur'
import { appOptions } from './app.js'

const processes = availableParallelism()

if (cluster.isPrimary) {
  cluster.schedulingPolicy = cluster.SCHED_NONE
  for (let n = 0; n < processes; n++) cluster.fork()
} else {
  const { PORT = '8080', HOST } = process.env
  const app = createApp(appOptions(process.env, processes))
  await app.listen(Number(PORT), HOST)
  serveOtherProtocols(app, process.env)
}

/** The same app over HTTP/2 and TLS, on the ports of the benchmark. */
function serveOtherProtocols({ handler }: App, env: NodeJS.ProcessEnv): void {
  const { CERTIFICATES = '/certs', TLS_PORT = '8081', H2_PORT = '8443', H2C_PORT = '8082', HOST } = env
  http2Server().on('request', handler).listen(Number(H2C_PORT), HOST)
  if (!existsSync(CERTIFICATES)) return
  const certificate = {
    key: readFileSync(`${CERTIFICATES}/server.key`),
    cert: readFileSync(`${CERTIFICATES}/server.crt`),
  }
  httpsServer({ ...certificate, ALPNProtocols: ['http/1.1'] }, handler).listen(Number(TLS_PORT), HOST)
  http2SecureServer(certificate).on('request', handler).listen(Number(H2_PORT), HOST)
}
