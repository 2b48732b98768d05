import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { createConfig, lintFromString } from '@redocly/openapi-core'
import { Validator } from '@seriousme/openapi-schema-validator'
import { createApp } from 'sequitur'
import { memoryDatabase } from 'sequitur/testing'
import { app as example } from '../../example/app.js'
import { serve, temporaryFolder } from '../support/processes.js'
import { controllers, models } from '../support/apps/everything.js'

const everything = createApp({
  controllers,
  models,
  lifespan: memoryDatabase(),
  logger: false,
  info: { title: 'Everything', version: '1.2.3', license: { name: 'MIT', identifier: 'MIT' } },
})

/** The OpenAPI document that a program serves, as a string. */
async function served(program: string): Promise<string> {
  const toolkit_url = `sqlite+sqlite3:///${join(temporaryFolder(), 'heroes.sqlite')}`
  const { url, stop } = await serve([program], { toolkit_url, PORT: '0' })
  const text = await (await fetch(`${url}/openapi.json`)).text()
  await stop()
  return text
}

const documents: Readonly<Record<string, string>> = {
  'the example': JSON.stringify(example.openapi()),
  'the example of cursors': await served('example/cursor.ts'),
  'an app with everything': JSON.stringify(everything.openapi()),
}
const config = await createConfig({ extends: ['recommended'] })

for (const [name, source] of Object.entries(documents)) {
  test(`the OpenAPI document of ${name} is valid OpenAPI 3.1`, async () => {
    const { valid, errors } = await new Validator().validate(JSON.parse(source))
    assert.ok(valid, JSON.stringify(errors, null, 2))
  })

  test(`the OpenAPI document of ${name} is what Redocly recommends, without a warning`, async () => {
    const problems = await lintFromString({ source, config })
    const told = problems.map(({ ruleId, message, location: [place] }) => `${ruleId} ${place?.pointer}: ${message}`)
    assert.deepEqual(told, [])
  })
}
