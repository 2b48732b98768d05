import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { TestContext } from 'node:test'
import { AwsV4Signer } from 'aws4fetch'

/** A store of objects with the protocol of S3, as far as presigned URLs, HEAD and DELETE. */
export interface ObjectStore {
  /** The settings of `BucketSettings`. */
  readonly env: Readonly<Record<string, string>>
  readonly objects: Map<string, Buffer>
  /** What it does with each request from now on. */
  behave(how: 'well' | 'refuses' | 'breaks off'): void
}

const KEYS = { accessKeyId: 'reader', secretAccessKey: 'of the test' }

export async function objectStore(t: TestContext): Promise<ObjectStore> {
  const objects = new Map<string, Buffer>()
  let behaviour = 'well'
  const server = createServer(async (request, response) => {
    if (behaviour === 'breaks off') return void request.socket.destroy()
    if (behaviour === 'refuses') return void response.writeHead(500).end()
    if (!(await isSigned(request))) return void response.writeHead(403).end()
    const key = new URL(request.url ?? '', 'http://store').pathname
    const stored = objects.get(key)
    if (request.method === 'PUT') objects.set(key, Buffer.concat(await request.toArray()))
    if (request.method === 'DELETE') objects.delete(key)
    if (request.method === 'DELETE') return void response.writeHead(204).end()
    if (request.method !== 'PUT' && !stored) return void response.writeHead(404).end()
    response.writeHead(200).end(request.method === 'GET' ? stored : undefined)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => server.close())
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const env = {
    BUCKET_URL: url,
    BUCKET_REGION: 'eu-test-1',
    ACCESS_KEY_ID: KEYS.accessKeyId,
    SECRET_ACCESS_KEY: KEYS.secretAccessKey,
  }
  return { env, objects, behave: (how) => (behaviour = how) }
}

/** Signs the request anew, and compares. */
async function isSigned({ method = '', url = '', headers }: IncomingMessage): Promise<boolean> {
  const target = new URL(url, `http://${headers.host}`)
  const given = target.searchParams.get('X-Amz-Signature')
  const common = { ...KEYS, method, service: 's3', region: 'eu-test-1' }
  if (given !== null) {
    const datetime = target.searchParams.get('X-Amz-Date') ?? ''
    const expires = target.searchParams.get('X-Amz-Expires') ?? ''
    const plain = `${target.origin}${target.pathname}?X-Amz-Expires=${expires}`
    const signed = await new AwsV4Signer({ ...common, url: plain, datetime, signQuery: true }).sign()
    return signed.url.searchParams.get('X-Amz-Signature') === given
  }
  const datetime = String(headers['x-amz-date'])
  const signed = await new AwsV4Signer({ ...common, url: target.href, datetime }).sign()
  return signed.headers.get('authorization') === headers.authorization
}
