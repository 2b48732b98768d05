import assert from 'node:assert/strict'
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import ajvFormats from 'ajv-formats'
import type { App } from 'sequitur'

/** Asserts that an answer is documented, by the document as a client gets it and a validator that is not the app's own. */
export type Conforms = (method: string, path: string, status: number, json: unknown) => void

interface Answers {
  readonly paths: Readonly<Record<string, Readonly<Record<string, { readonly responses: Responses }>>>>
}

type Responses = Readonly<Record<string, { readonly content?: Readonly<Record<string, unknown>> }>>

/** `path` is the document's: `/heros/{hero_id}`. */
export function conformsTo(app: App): Conforms {
  const document = JSON.parse(JSON.stringify(app.openapi())) as Answers
  // The formats that this validator does not know are annotations to it.
  const ajv = new Ajv2020({ strict: false, logger: false, allErrors: true })
  ajvFormats.default(ajv)
  ajv.addSchema(document, 'document')
  const validators = new Map<string, ValidateFunction>()
  return (method, path, status, json) => {
    const responses = document.paths[path]?.[method]?.responses
    const code = responses && String(status) in responses ? String(status) : 'default'
    const [type] = Object.keys(responses?.[code]?.content ?? {})
    const what = `${method.toUpperCase()} ${path} answered ${status}`
    assert.ok(type !== undefined, `${what}, which the document does not say`)
    const parts = ['paths', path, method, 'responses', code, 'content', type, 'schema']
    const $ref = `document#/${parts.map((part) => encodeURIComponent(part.replaceAll('~', '~0').replaceAll('/', '~1'))).join('/')}`
    const validate = validators.get($ref) ?? ajv.compile({ $ref })
    validators.set($ref, validate)
    assert.ok(validate(json), `${what}: ${JSON.stringify(validate.errors)} of ${JSON.stringify(json)}`)
  }
}
