import { HttpError } from '../http/errors.js'

/** A request that belongs to no tenant has used rows of tenants: a 403. */
export class NoTenantError extends HttpError {
  override name = 'NoTenantError'

  constructor() {
    super(403, 'This request belongs to no tenant.')
  }
}

/** A row of another tenant was to be written, or a row was to be moved to another tenant: a 403. */
export class OtherTenantError extends HttpError {
  override name = 'OtherTenantError'

  constructor(model: string, column: string) {
    super(403, `${model}: the column ${column} does not name the tenant of this request. Leave it out.`)
  }
}

/** A statement of the program that cannot be limited to one tenant, or names none: a 500. */
export class TenancyError extends Error {
  override name = 'TenancyError'
}
