// The same on both query paths: it has no database.
import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test, type TestContext } from 'node:test'
import { exportJWK, generateKeyPair, type JWK, SignJWT } from 'jose'
import { testApp } from 'sequitur/testing'
import { openIdOptions } from '../../example/recipes/openid.js'

/** An issuer of tokens on this machine: its keys can be replaced, and its server can fail. */
async function issuer(t: TestContext) {
  let keys: JWK[] = []
  let status = 200
  let reads = 0
  const server = createServer((_, response) => {
    reads++
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify({ keys }))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => server.close())
  const { port } = server.address() as AddressInfo
  const newKey = async (kid: string) => {
    const pair = await generateKeyPair('RS256')
    keys = [{ ...(await exportJWK(pair.publicKey)), kid, alg: 'RS256', use: 'sig' }]
    return pair.privateKey
  }
  return {
    url: `http://127.0.0.1:${port}/keys`,
    newKey,
    fail: (with_: number) => void (status = with_),
    reads: () => reads,
  }
}

const ISSUER = 'https://login.example/realms/heroes'

interface Claims {
  readonly iss?: string
  readonly aud?: string
  readonly exp?: string | number
  readonly scope?: string
}

function tokenOf(
  key: Parameters<SignJWT['sign']>[0],
  kid: string,
  { iss = ISSUER, aud = 'heroes', exp = '5m', scope }: Claims = {},
) {
  return new SignJWT(scope === undefined ? {} : { scope })
    .setProtectedHeader({ alg: 'RS256', kid })
    .setSubject('user-7')
    .setIssuer(iss)
    .setAudience(aud)
    .setExpirationTime(exp)
    .sign(key)
}

async function start(t: TestContext, jwksUri: string) {
  const env = { ISSUER, AUDIENCE: 'heroes', JWKS_URI: jwksUri }
  const { fetch, close } = await testApp({ ...openIdOptions(env), logger: false })
  t.after(close)
  return async (path: string, token?: string) => {
    const response = await fetch(path, token === undefined ? {} : { headers: { authorization: `Bearer ${token}` } })
    return { status: response.status, body: (await response.json()) as Record<string, unknown> }
  }
}

test('openid.ts: a token of the issuer for this API is accepted, with its scopes', async (t) => {
  const { url, newKey, reads } = await issuer(t)
  const key = await newKey('a')
  const get = await start(t, url)
  assert.deepEqual(await get('/me', await tokenOf(key, 'a')), { status: 200, body: { id: 'user-7' } })
  assert.equal((await get('/me/heroes', await tokenOf(key, 'a'))).status, 403)
  assert.equal((await get('/me/heroes', await tokenOf(key, 'a', { scope: 'openid heroes:read' }))).status, 200)
  assert.equal(reads(), 1, 'the keys are kept')
})

test('openid.ts: any other token is a 401', async (t) => {
  const { url, newKey } = await issuer(t)
  const key = await newKey('a')
  const other = await generateKeyPair('RS256')
  const get = await start(t, url)
  const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')
  const claims = { iss: ISSUER, aud: 'heroes', sub: 'user-7', exp: Math.floor(Date.now() / 1000) + 300 }
  const secret = new TextEncoder().encode('a secret of thirty-two characters')
  const tokens: readonly (string | undefined)[] = [
    undefined,
    '',
    'x',
    'a.b.c',
    await tokenOf(key, 'a', { iss: 'https://evil.example' }),
    await tokenOf(key, 'a', { aud: 'other' }),
    await tokenOf(key, 'a', { exp: 1 }),
    await tokenOf(other.privateKey, 'a'),
    await tokenOf(key, 'unknown'),
    `${part({ alg: 'none' })}.${part(claims)}.`,
    await new SignJWT(claims).setProtectedHeader({ alg: 'HS256', kid: 'a' }).sign(secret),
    await new SignJWT({ iss: ISSUER, aud: 'heroes' }).setProtectedHeader({ alg: 'RS256', kid: 'a' }).sign(key), // for ever
  ]
  for (const token of tokens) {
    const { status } = await get('/me', token === undefined ? undefined : encodeURI(token))
    assert.equal(status, 401, String(token))
  }
})

test('openid.ts: a new key of the issuer is read, and an issuer that does not answer is a 503', async (t) => {
  const { url, newKey, fail } = await issuer(t)
  const first = await newKey('a')
  const get = await start(t, url)
  assert.equal((await get('/me', await tokenOf(first, 'a'))).status, 200)
  const second = await newKey('b')
  await new Promise((resolve) => setTimeout(resolve, 1_100)) // after the cooldown
  assert.equal((await get('/me', await tokenOf(second, 'b'))).status, 200)
  assert.equal((await get('/me', await tokenOf(first, 'a'))).status, 401)
  for (const status of [500, 404]) {
    fail(status)
    const fresh = await start(t, url)
    assert.equal((await fresh('/me', await tokenOf(second, 'b'))).status, 503)
  }
  const away = await start(t, 'http://127.0.0.1:1/keys')
  assert.equal((await away('/me', await tokenOf(second, 'b'))).status, 503)
})
