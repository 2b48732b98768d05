import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { freePort } from './postgres-server.js'
import { temporaryFolder } from './processes.js'
import { until } from './waiting.js'

export interface Nginx {
  readonly url: string
  /** Loads the configuration again, changed, and waits until the processes with the former one have ended. */
  reload(change: (configuration: string) => string): Promise<void>
}

/** Starts nginx before apps at 127.0.0.1:8000 and 127.0.0.1:8001 of the configuration, and waits until the path is answered. */
export async function startNginx(
  t: TestContext,
  configured: string,
  apps: readonly string[],
  path: string,
): Promise<Nginx> {
  const folder = temporaryFolder()
  const port = await freePort()
  let http = configured.replace('listen 8080', `listen 127.0.0.1:${port}`)
  for (const [place, documented] of ['127.0.0.1:8000', '127.0.0.1:8001'].entries())
    http = http.replaceAll(documented, new URL(apps[place % apps.length] ?? '').host)
  const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (name) => `${name}_temp_path ${folder}/${name};`,
  )
  const file = join(folder, 'nginx.conf')
  const configure = (own: string) => {
    const lines = [
      'daemon off;',
      `pid ${folder}/pid;`,
      'events {}',
      `http { access_log off; ${paths.join(' ')}`,
      own,
      '}',
    ]
    writeFileSync(file, lines.join('\n'))
  }
  configure(http)
  const PATH = `${process.env['PATH']}:/usr/sbin`
  const args = ['-e', join(folder, 'error.log'), '-p', folder, '-c', file]
  const nginx = spawn('nginx', args, { env: { ...process.env, PATH }, stdio: 'inherit' })
  t.after(async () => {
    nginx.kill('SIGTERM')
    await once(nginx, 'exit')
  })
  const url = `http://127.0.0.1:${port}`
  await until('nginx listens', () =>
    fetch(url + path).then(
      ({ ok }) => ok,
      () => false,
    ),
  )
  return {
    url,
    async reload(change) {
      const former = workersOf(nginx.pid)
      configure(change(http))
      nginx.kill('SIGHUP')
      const workers = () => workersOf(nginx.pid)
      await until('nginx has replaced its workers', () => {
        const now = workers()
        return now.length > 0 && former.every((id) => !now.includes(id))
      })
    },
  }
}

/** The ids of its processes. */
function workersOf(main: number | undefined): readonly string[] {
  return readFileSync(`/proc/${main}/task/${main}/children`, 'utf8').split(' ').filter(Boolean)
}
