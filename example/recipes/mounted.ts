import { createServer } from 'node:http'
import { app } from '../app.js'

export const server = createServer((request, response) => {
  if (request.url?.startsWith('/api/')) {
    request.url = request.url.slice('/api'.length)
    app.handler(request, response)
  } else response.writeHead(404).end()
})

server.listen(Number(process.env['PORT'] ?? 8000))
process.once('SIGTERM', () => server.close(() => app.close()))
