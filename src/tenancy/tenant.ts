import type { Model, ModelStatic } from 'sequelize'
import { ignoreRejections } from '../core/promises.js'
import { shown } from '../core/options.js'
import { NoTenantError } from './errors.js'

/** Identifies a tenant: a value of the column. */
export type Tenant = string | number

/** The kind of the column that has the tenant. */
export type TenantKind = 'integer' | 'bigint' | 'uuid' | 'text'

/** A mapped table with the column of the tenant. */
export interface TenantTable {
  readonly model: ModelStatic<Model>
  /** The name of the column. */
  readonly column: string
  readonly attribute: string
}

// No quote, backslash, dollar or control character: the text means the same in every literal, of every database.
const TEXT = /^[A-Za-z0-9][A-Za-z0-9_.:@+=-]{0,99}$/
const WHOLE = /^(?:0|[1-9]\d{0,17})$/
const MAX_INTEGER = 2 ** 31 - 1
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/

/**
 * The tenant as the text that statements have: whole numbers from 0 for a column with integers, lower-case UUIDs for one with UUIDs.
 *
 * @throws NoTenantError for a text that cannot be a tenant of the column, as a client may have sent it. TypeError for anything else, such as a promise.
 */
export function tenantText(tenant: unknown, kind: TenantKind): string {
  if (typeof tenant !== 'string' && !Number.isSafeInteger(tenant)) {
    ignoreRejections(tenant) // of an asynchronous function
    throw new TypeError(
      `tenancy(): the tenant is ${shown(tenant)}. Return a string, a whole number, or undefined for none.`,
    )
  }
  const text = kind === 'uuid' ? String(tenant).toLowerCase() : String(tenant)
  if (!isOfKind(text, kind)) throw new NoTenantError()
  return text
}

function isOfKind(text: string, kind: TenantKind): boolean {
  switch (kind) {
    case 'integer':
      return WHOLE.test(text) && Number(text) <= MAX_INTEGER
    case 'bigint':
      return WHOLE.test(text)
    case 'uuid':
      return UUID.test(text)
    case 'text':
      return TEXT.test(text)
  }
}
