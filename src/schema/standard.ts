import type { Issue } from './issue.js'
import { escapePointer } from './grammar.js'

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

interface Convertible {
  readonly '~standard': {
    readonly jsonSchema?: Readonly<Record<'input' | 'output', (options: { target: string }) => Record<string, unknown>>>
  }
  readonly toJSONSchema?: (options: { io: 'input' | 'output' }) => Record<string, unknown>
}

/** The library's JSON Schema of what goes in or comes out; an open one where it gives none. */
export function jsonSchemaOf(schema: StandardSchema, side: 'input' | 'output'): Readonly<Record<string, unknown>> {
  const convertible = schema as Convertible
  try {
    const { $schema: _, ...json } =
      convertible['~standard'].jsonSchema?.[side]({ target: 'draft-2020-12' }) ??
      convertible.toJSONSchema?.({ io: side }) ??
      {}
    // References of its own would be read from the root of the document.
    return JSON.stringify(json).includes('"$ref"') ? {} : json
  } catch {
    return {} // of what JSON Schema cannot say, libraries throw
  }
}
