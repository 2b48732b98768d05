import type { OwnDatabase } from '../../db/own-tables/own-database.js'
import { tablesNamedIn } from '../../db/sql/statement-tables.js'
import { type Sql, sql } from '../../db/statements/statement.js'

/** A write to one table changes another one as well. */
interface Relation {
  readonly from: string
  readonly to: string
  /** Whether only the deletion of rows does. */
  readonly onDelete: boolean
}

interface NamedRow {
  readonly name: string
  readonly other: string
}

interface DefinitionRow {
  readonly name: string
  readonly definition: string
}

/** How a database says what it does by itself. */
interface Catalog {
  /** Tables, and those whose rows are changed when theirs are deleted. */
  readonly cascades: Sql<NamedRow>
  /** Tables, and what shows, or has, the same rows. */
  readonly same?: Sql<NamedRow>
  /** Views with their SQL, if {@link same} does not have them. */
  readonly views?: Sql<DefinitionRow>
  /** Tables, and the SQL of their triggers. */
  readonly triggers: Sql<DefinitionRow>
}

const POSTGRES: Catalog = {
  cascades: sql`SELECT p.relname AS name, c.relname AS other FROM pg_constraint f
    JOIN pg_class p ON p.oid = f.confrelid JOIN pg_class c ON c.oid = f.conrelid
    WHERE f.contype = 'f' AND f.confdeltype IN ('c', 'n', 'd')`,
  same: sql`SELECT t.relname AS name, v.relname AS other FROM pg_rewrite r
      JOIN pg_class v ON v.oid = r.ev_class AND v.relkind IN ('v', 'm')
      JOIN pg_depend d ON d.objid = r.oid AND d.classid = 'pg_rewrite'::regclass AND d.refclassid = 'pg_class'::regclass
      JOIN pg_class t ON t.oid = d.refobjid AND t.oid <> v.oid
      JOIN pg_namespace n ON n.oid = v.relnamespace AND n.nspname NOT IN ('pg_catalog', 'information_schema')
    UNION SELECT c.relname, p.relname FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid JOIN pg_class p ON p.oid = i.inhparent
    UNION SELECT p.relname, c.relname FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid JOIN pg_class p ON p.oid = i.inhparent`,
  triggers: sql`SELECT c.relname AS name, f.prosrc AS definition FROM pg_trigger t
    JOIN pg_class c ON c.oid = t.tgrelid JOIN pg_proc f ON f.oid = t.tgfoid WHERE NOT t.tgisinternal`,
}

const MYSQL: Catalog = {
  cascades: sql`SELECT referenced_table_name AS name, table_name AS other FROM information_schema.referential_constraints
    WHERE constraint_schema = DATABASE() AND delete_rule IN ('CASCADE', 'SET NULL', 'SET DEFAULT')`,
  views: sql`SELECT table_name AS name, view_definition AS definition FROM information_schema.views WHERE table_schema = DATABASE()`,
  triggers: sql`SELECT event_object_table AS name, action_statement AS definition FROM information_schema.triggers
    WHERE trigger_schema = DATABASE()`,
}

const SQLITE: Catalog = {
  cascades: sql`SELECT f."table" AS name, m.name AS other FROM sqlite_master m, pragma_foreign_key_list(m.name) f
    WHERE m.type = 'table' AND f.on_delete IN ('CASCADE', 'SET NULL', 'SET DEFAULT')`,
  views: sql`SELECT name, sql AS definition FROM sqlite_master WHERE type = 'view'`,
  triggers: sql`SELECT tbl_name AS name, sql AS definition FROM sqlite_master WHERE type = 'trigger'`,
}

const CATALOGS: Readonly<Record<string, Catalog>> = { postgres: POSTGRES, mysql: MYSQL, mariadb: MYSQL, sqlite: SQLITE }

/** The tables of a database that are written, or read, with others: by foreign keys with ON DELETE, by triggers, and as views. */
export class RelatedTables {
  readonly #relations: ReadonlyMap<string, readonly Relation[]>
  /** The tables whose rows a table has, or shows. */
  readonly #sources = new Map<string, Set<string>>()

  constructor(relations: readonly Relation[]) {
    const byTable = new Map<string, Relation[]>()
    for (const relation of relations) byTable.set(relation.from, [...(byTable.get(relation.from) ?? []), relation])
    this.#relations = byTable
    for (const { from, to, onDelete } of relations)
      if (!onDelete) this.#sources.set(to, (this.#sources.get(to) ?? new Set()).add(from))
  }

  /** The table, and all others whose rows it may have, or show, or get. */
  sourcesOf(table: string): ReadonlySet<string> {
    const sources = new Set([table])
    for (const name of sources) for (const from of this.#sources.get(name) ?? []) sources.add(from)
    return sources
  }

  /** The table, and all others that a write to it changes. */
  changedWith(table: string, deletes: boolean): ReadonlySet<string> {
    const changed = new Set([table])
    for (const name of changed)
      // also those that are added meanwhile
      for (const { to, onDelete } of this.#relations.get(name) ?? []) if (deletes || !onDelete) changed.add(to)
    return changed
  }
}

export const NO_RELATIONS: RelatedTables = new RelatedTables([])

/** Reads them from the catalog of the database. @throws its error. */
export async function readRelatedTables(database: OwnDatabase): Promise<RelatedTables> {
  const { dialect } = database
  const catalog = CATALOGS[dialect]
  if (!catalog) return NO_RELATIONS
  const { cascades, same, views, triggers } = catalog
  const relations = [
    ...(await database.read(cascades)).map((row) => relation(row.name, row.other, true)),
    ...(same ? await database.read(same) : []).map((row) => relation(row.name, row.other)),
    ...(views ? await database.read(views) : []).flatMap(({ name, definition }) =>
      tablesNamedIn(definition, dialect).map((table) => relation(table, name)),
    ),
    ...(await database.read(triggers)).flatMap(({ name, definition }) =>
      tablesNamedIn(definition, dialect).map((table) => relation(name, table)),
    ),
  ]
  return new RelatedTables(relations)
}

function relation(from: string, to: string, onDelete = false): Relation {
  return { from: from.toLowerCase(), to: to.toLowerCase(), onDelete }
}
