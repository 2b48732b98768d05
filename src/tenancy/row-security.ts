import { type Model, type ModelStatic, QueryTypes, type Sequelize } from 'sequelize'
import { BootError } from '../core/boot-error.js'
import type { BoundaryStatement } from '../db/boundary.js'
import { queryGeneratorOf } from '../db/sequelize/internals.js'
import type { TenantTables } from './tenant-tables.js'
import type { TenantKind, TenantTable } from './tenant.js'

/*
 * PostgreSQL limits the rows itself, by policies. A role that is exempt from them, a table without a policy, or a policy that allows more would go unnoticed:
 * they are checked at every start, and while the app runs.
 */

/** @throws BootError with the SQL that is missing. */
export async function checkRowSecurity(
  sequelize: Sequelize,
  tables: TenantTables,
  role: string | undefined,
): Promise<void> {
  await refuseExemptRole(sequelize, role)
  const missing: string[] = []
  for (const table of tables.all) missing.push(...(await missingSql(sequelize, table, tables.kind))) // one connection is enough
  if (missing.length === 0) return
  throw new BootError(
    `tenancy(): PostgreSQL does not limit these tables to a tenant. Write a migration:\n${missing.map((sql) => `  ${sql}\n`).join('')}`,
  )
}

/** The statements that tables lack; for a table that does not exist, those that it needs once it does. */
export async function missingRowSecurity(
  sequelize: Sequelize,
  { all, kind }: TenantTables,
): Promise<readonly BoundaryStatement[]> {
  const missing: BoundaryStatement[] = []
  for (const table of all) {
    const found = (await exists(sequelize, table))
      ? await missingSql(sequelize, table, kind)
      : allSql(sequelize, table, kind)
    missing.push(...found.map((sql) => ({ model: table.model, sql: withoutComment(sql) })))
  }
  return missing
}

/** `DROP POLICY all ON task; -- why` */
function withoutComment(sql: string): string {
  return sql.slice(0, sql.lastIndexOf(';'))
}

async function exists(sequelize: Sequelize, { model }: TenantTable): Promise<boolean> {
  const [row] = await sequelize.query<{ readonly exists: boolean }>(`SELECT to_regclass($1) IS NOT NULL AS exists`, {
    bind: [tableOf(sequelize, model)],
    type: QueryTypes.SELECT,
    transaction: null,
  })
  return row?.exists === true
}

function allSql(sequelize: Sequelize, { model, column: name }: TenantTable, kind: TenantKind): string[] {
  const table = tableOf(sequelize, model)
  const limited = { table, column: quotedName(sequelize, name), kind, looseType: undefined }
  return [
    `ALTER TABLE ${table} ENABLE ROW LEVEL SECURITY;`,
    `ALTER TABLE ${table} FORCE ROW LEVEL SECURITY;`,
    ...missingPolicy([], limited, (policy) => quotedName(sequelize, policy)),
  ]
}

interface RoleRow {
  readonly name: string
  readonly is_exempt: boolean
}

async function refuseExemptRole(sequelize: Sequelize, role: string | undefined): Promise<void> {
  const [found] = await sequelize.query<RoleRow>(
    `SELECT rolname AS name, rolsuper OR rolbypassrls AS is_exempt FROM pg_catalog.pg_roles WHERE rolname = coalesce($1::text, current_user)`,
    { bind: [role ?? null], type: QueryTypes.SELECT, transaction: null },
  )
  if (!found)
    throw new BootError(
      `tenancy(): there is no role ${role}. Create it: CREATE ROLE ${quotedName(sequelize, role ?? '')} NOLOGIN; and grant it the tables.`,
    )
  const name = quotedName(sequelize, found.name)
  if (found.is_exempt)
    throw new BootError(
      `tenancy(): the role ${found.name} is a superuser or has BYPASSRLS, so that no policy limits it. Connect as another role; or write tenancy({ role: 'tenants' }), and in a migration: CREATE ROLE tenants NOLOGIN; GRANT tenants TO ${name}; GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO tenants; GRANT USAGE ON ALL SEQUENCES IN SCHEMA public TO tenants;`,
    )
  if (role !== undefined) await refuseOtherRole(sequelize, role)
}

async function refuseOtherRole(sequelize: Sequelize, role: string): Promise<void> {
  const [row] = await sequelize.query<{ readonly may_set: boolean; readonly name: string }>(
    `SELECT pg_has_role(current_user, $1::name, 'MEMBER') AS may_set, current_user AS name`,
    { bind: [role], type: QueryTypes.SELECT, transaction: null },
  )
  if (row?.may_set === true) return
  throw new BootError(
    `tenancy(): the role of the connection may not become ${role}. Write a migration: GRANT ${quotedName(sequelize, role)} TO ${quotedName(sequelize, row?.name ?? '')};`,
  )
}

interface TableRow {
  readonly kind: string
  readonly is_enabled: boolean
  readonly is_forced: boolean
  readonly has_invoker: boolean
}

interface PolicyRow {
  readonly name: string
  readonly command: string
  readonly is_permissive: boolean
  readonly visible: string | null
  readonly written: string | null
}

async function missingSql(sequelize: Sequelize, { model, column }: TenantTable, kind: TenantKind): Promise<string[]> {
  const table = tableOf(sequelize, model)
  const [facts] = await sequelize.query<TableRow>(
    `SELECT relkind AS kind, relrowsecurity AS is_enabled, relforcerowsecurity AS is_forced,
       coalesce(reloptions::text ~ 'security_invoker=(true|on|1)', false) AS has_invoker
     FROM pg_catalog.pg_class WHERE oid = to_regclass($1)`,
    { bind: [table], type: QueryTypes.SELECT, transaction: null },
  )
  if (!facts) return []
  if (facts.kind === 'v') return facts.has_invoker ? [] : [`ALTER VIEW ${table} SET (security_invoker = true);`]
  const looseType = await findLooseType(sequelize, table, column)
  const policies = await sequelize.query<PolicyRow>(
    `SELECT polname AS name, polcmd AS command, polpermissive AS is_permissive,
       pg_get_expr(polqual, polrelid) AS visible, pg_get_expr(polwithcheck, polrelid) AS written
     FROM pg_catalog.pg_policy WHERE polrelid = to_regclass($1)`,
    { bind: [table], type: QueryTypes.SELECT, transaction: null },
  )
  return [
    ...(facts.is_enabled ? [] : [`ALTER TABLE ${table} ENABLE ROW LEVEL SECURITY;`]),
    ...(facts.is_forced ? [] : [`ALTER TABLE ${table} FORCE ROW LEVEL SECURITY;`]),
    ...missingPolicy(policies, { table, column: quotedName(sequelize, column), kind, looseType }, (name) =>
      quotedName(sequelize, name),
    ),
  ]
}

/**
 * The type that the column should have, if it compares different texts as equal: with such a collation, or the type citext, a policy shows the
 * rows of the tenant acme to the tenant ACME.
 */
async function findLooseType(sequelize: Sequelize, table: string, column: string): Promise<string | undefined> {
  const [row] = await sequelize.query<{ readonly type: string; readonly is_citext: boolean }>(
    `SELECT format_type(a.atttypid, a.atttypmod) AS type, t.typname = 'citext' AS is_citext
     FROM pg_catalog.pg_attribute AS a
       JOIN pg_catalog.pg_type AS t ON t.oid = a.atttypid
       LEFT JOIN pg_catalog.pg_collation AS c ON c.oid = a.attcollation
     WHERE a.attrelid = to_regclass($1) AND a.attname = $2
       AND (t.typname = 'citext' OR to_jsonb(c) ->> 'collisdeterministic' = 'false')`,
    { bind: [table, column], type: QueryTypes.SELECT, transaction: null },
  )
  return row && `${row.is_citext ? 'text' : row.type} COLLATE "C"`
}

const CASTS: Readonly<Record<TenantKind, string>> = {
  integer: '::integer',
  bigint: '::bigint',
  uuid: '::uuid',
  text: '',
}

interface LimitedColumn {
  readonly table: string
  readonly column: string
  readonly kind: TenantKind
  /** See {@link findLooseType}. */
  readonly looseType: string | undefined
}

function missingPolicy(
  policies: readonly PolicyRow[],
  { table, column, kind, looseType }: LimitedColumn,
  quote: (name: string) => string,
): string[] {
  const isLimit = (text: string | null) => text?.includes('sequitur.tenant') === true
  // A policy without WITH CHECK uses its USING expression; a policy for INSERT has only WITH CHECK.
  const limits = ({ command, visible, written }: PolicyRow) =>
    command === 'a' ? isLimit(written) : isLimit(visible) && (written === null || isLimit(written))
  const drop = ({ name }: PolicyRow, why: string) => `DROP POLICY ${quote(name)} ON ${table}; -- ${why}`
  const permissive = policies.filter(({ is_permissive }) => is_permissive)
  const drops = permissive
    .filter((policy) => !limits(policy))
    .map((policy) => drop(policy, 'it allows rows of all tenants'))
  const limiting = permissive.filter(limits)
  if (looseType === undefined && limiting.length > 0) return drops
  const own = `${column} = nullif(current_setting('sequitur.tenant', true), '')${CASTS[kind]}`
  return [
    ...drops,
    ...(looseType === undefined
      ? []
      : [
          ...limiting.map((policy) => drop(policy, 'the next statement needs it')),
          `ALTER TABLE ${table} ALTER COLUMN ${column} TYPE ${looseType}; -- it treats tenants whose names differ by case as one`,
        ]),
    `CREATE POLICY tenancy ON ${table} USING (${own}) WITH CHECK (${own});`,
  ]
}

function tableOf(sequelize: Sequelize, model: ModelStatic<Model>): string {
  return queryGeneratorOf(sequelize).quoteTable(model.getTableName())
}

function quotedName(sequelize: Sequelize, name: string): string {
  return queryGeneratorOf(sequelize).quoteIdentifier(name)
}
