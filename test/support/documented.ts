import assert from 'node:assert/strict'
import type { ValidateFunction } from 'ajv/dist/2020.js'
import type { App } from 'sequitur'
import { newAjvWithFormats } from './json-schema.js'

/**
 * Asserts that the OpenAPI document of an app declares a response: its status, its media type, and its JSON. The validator is not the one
 * that the app uses.
 */
export type Conforms = (method: string, path: string, response: Answer, text: string, what?: string) => void

interface Answer {
  readonly status: number
  readonly headers: { get(name: string): string | null }
}

interface Answers {
  readonly paths: Readonly<Record<string, Readonly<Record<string, { readonly responses: Responses }>>>>
}

type Responses = Readonly<Record<string, { readonly content?: Readonly<Record<string, unknown>> }>>

/** Compiles the assertion from an app's OpenAPI document. Its `path` is a path of the document: `/heros/{hero_id}`. */
export function conformsTo(app: App): Conforms {
  const document = JSON.parse(JSON.stringify(app.openapi())) as Answers
  // ajv ignores formats that it does not know.
  const ajv = newAjvWithFormats({ allErrors: true })
  ajv.addFormat('double-int', { type: 'number', validate: Number.isSafeInteger })
  ajv.addSchema(document, 'document')
  const validators = new Map<string, ValidateFunction>()
  return (
    method,
    path,
    { status, headers },
    text,
    what = `${method.toUpperCase()} ${path} answered ${status} ${text}`,
  ) => {
    const responses = document.paths[path]?.[method]?.responses ?? {}
    const code = String(status)
    assert.ok(code in responses, `Not documented: ${what}`)
    const types = Object.keys(responses[code]?.content ?? {})
    const [type] = types
    if (type === undefined) return assert.equal(text, '', `Nothing is documented: ${what}`)
    assert.ok(
      headers.get('content-type')?.startsWith(type),
      `Not documented as ${headers.get('content-type')}: ${what}`,
    )
    const parts = ['paths', path, method, 'responses', code, 'content', type, 'schema']
    const $ref = `document#/${parts.map((part) => encodeURIComponent(part.replaceAll('~', '~0').replaceAll('/', '~1'))).join('/')}`
    const validate = validators.get($ref) ?? ajv.compile({ $ref })
    validators.set($ref, validate)
    assert.ok(validate(JSON.parse(text)), `Documented otherwise, ${JSON.stringify(validate.errors)}: ${what}`)
  }
}
