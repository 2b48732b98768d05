export { type Tenancy, tenancy, type TenancyOptions } from './tenancy/tenancy.js'
export type { Tenant } from './tenancy/tenant.js'
export { Unscoped, unscoped, withTenant } from './tenancy/given-tenant.js'
export { NoTenantError, OtherTenantError, TenancyError } from './tenancy/errors.js'
