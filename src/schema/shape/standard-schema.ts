import { escapePointer, type Issue } from './issue.js'

/** A schema of zod, valibot, arktype or another library of the Standard Schema specification (standardschema.dev). */
export interface StandardSchema<In = unknown, Out = In> {
  readonly '~standard': {
    readonly version: 1
    readonly vendor: string
    readonly validate: (value: unknown) => StandardResult<Out> | Promise<StandardResult<Out>>
    readonly types?: { readonly input: In; readonly output: Out } | undefined
  }
}

export type StandardResult<T = unknown> =
  | { readonly value: T; readonly issues?: undefined }
  | { readonly issues: readonly StandardIssue[] }

interface StandardIssue {
  readonly message: string
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined
}

/** Whether a declaration is one of another library. Some are functions. */
export function isStandardSchema(declaration: unknown): declaration is StandardSchema {
  return (
    ((typeof declaration === 'object' && declaration !== null) || typeof declaration === 'function') &&
    '~standard' in declaration
  )
}

/** What a library finds wrong, as we say it. */
export function toIssues(issues: readonly StandardIssue[]): Issue[] {
  return issues.map(({ message, path = [] }) => ({ path: path.map(toPointer).join(''), message }))
}

function toPointer(part: PropertyKey | { readonly key: PropertyKey }): string {
  return `/${escapePointer(String(typeof part === 'object' ? part.key : part))}`
}

type ToJson = (options: { target: string; libraryOptions?: Readonly<Record<string, unknown>> }) => Json

type Json = Readonly<Record<string, unknown>>

interface Convertible {
  readonly '~standard': { readonly jsonSchema?: Readonly<Record<'input' | 'output', ToJson>> }
  readonly toJSONSchema?: (options: { io: 'input' | 'output' }) => Json
}

/** How a library is told to leave open what JSON Schema cannot say, such as a Date, instead of refusing the whole. */
const LENIENT: Readonly<Record<string, Json>> = { zod: { unrepresentable: 'any' } }

/** The library's JSON Schema of what goes in or comes out; an open one where it gives none. */
export function jsonSchemaOf(schema: StandardSchema, direction: 'input' | 'output'): Json {
  const { $schema: _, ...json } = convert(schema, direction) ?? {}
  return json
}

function convert(schema: StandardSchema, direction: 'input' | 'output'): Json | undefined {
  const { '~standard': standard, toJSONSchema } = schema as StandardSchema & Convertible
  const toJson = standard.jsonSchema?.[direction]
  const target = 'draft-2020-12'
  if (!toJson) return attempt(() => toJSONSchema?.call(schema, { io: direction }))
  const libraryOptions = LENIENT[standard.vendor]
  return attempt(() => toJson({ target })) ?? (libraryOptions && attempt(() => toJson({ target, libraryOptions })))
}

// Of what JSON Schema cannot say, libraries throw.
function attempt(make: () => Json | undefined): Json | undefined {
  try {
    return make()
  } catch {
    return undefined
  }
}

/** Whether a value may be left out: the library takes its absence for itself, or for a default that it tells. */
export function takesNothing(schema: StandardSchema): boolean {
  try {
    const result = schema['~standard'].validate(undefined)
    if (result instanceof Promise) return (result.catch(() => {}), false)
    return !result.issues && (result.value === undefined || 'default' in jsonSchemaOf(schema, 'input'))
  } catch {
    return false // a function of the program's own, which expected a value
  }
}
