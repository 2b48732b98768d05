/*
 * One statement reads everything, so that what it returns belongs to one moment, and the network is crossed once. Members that older servers lack, or that
 * servers which only speak the protocol lack, are read from the row as JSON. 100 is the default collation, 20 is bigint, 23 is integer.
 */

/** $1: the tables as JSON, `[{"schema": …, "name": …}]`; NULL for all of them. */
export const CATALOG = `WITH wanted AS (
  SELECT g ->> 'schema' AS schema_name, g ->> 'name' AS table_name FROM json_array_elements(CAST($1 AS json)) AS g
), found AS (
  SELECT to_regclass(CASE WHEN schema_name IS NULL THEN quote_ident(table_name)
      ELSE quote_ident(schema_name) || '.' || quote_ident(table_name) END) AS id, schema_name IS NULL AS is_default
  FROM wanted
), relation AS (
  SELECT c.oid AS id, c.relname AS name, c.relkind AS kind, c.reltuples AS estimated, c.relrowsecurity AS is_limited,
    CASE WHEN f.is_default OR pg_catalog.pg_table_is_visible(c.oid) THEN NULL ELSE n.nspname END AS schema_name
  FROM pg_catalog.pg_class AS c
    JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
    LEFT JOIN found AS f ON f.id = c.oid
  WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND CASE WHEN $1 IS NOT NULL THEN f.id IS NOT NULL
    ELSE n.nspname !~ '^(pg_|information_schema$|crdb_internal$)' AND NOT c.relispartition AND NOT EXISTS (
      SELECT 1 FROM pg_catalog.pg_depend AS d
      WHERE d.classid = CAST('pg_catalog.pg_class' AS regclass) AND d.objid = c.oid AND d.deptype = 'e') END
), owned AS (
  SELECT s.refobjid AS id, s.refobjsubid AS number, min(n.typlen) AS length
  FROM relation AS r
    JOIN pg_catalog.pg_depend AS s ON s.refobjid = r.id AND s.refclassid = CAST('pg_catalog.pg_class' AS regclass)
      AND s.classid = CAST('pg_catalog.pg_class' AS regclass) AND s.deptype = 'a'
    JOIN pg_catalog.pg_sequence AS q ON q.seqrelid = s.objid
    JOIN pg_catalog.pg_type AS n ON n.oid = q.seqtypid
  GROUP BY s.refobjid, s.refobjsubid
)
SELECT CAST(json_build_object(
  'schema', current_schema(),
  'tables', (SELECT json_agg(json_build_object('id', r.id, 'name', r.name, 'schema', r.schema_name, 'kind', r.kind,
      'estimated', r.estimated, 'isLimited', r.is_limited, 'comment', obj_description(r.id, 'pg_class'))
      ORDER BY r.schema_name NULLS FIRST, r.name) FROM relation AS r),
  'columns', (SELECT json_agg(json_build_object('table', a.attrelid, 'name', a.attname,
      'type', format_type(a.atttypid, a.atttypmod),
      'baseType', CASE WHEN t.typtype = 'd' THEN format_type(t.typbasetype, t.typtypmod) END,
      'isNotNull', a.attnotnull, 'isDomainNotNull', t.typnotnull,
      'expression', pg_get_expr(d.adbin, d.adrelid), 'identity', a.attidentity, 'generated', to_jsonb(a) ->> 'attgenerated',
      'hasOwnSequence', w.id IS NOT NULL, 'hasNarrowSequence', a.atttypid IN (20, 23) AND coalesce(w.length < t.typlen, FALSE),
      'collation', o.collname, 'comment', col_description(a.attrelid, a.attnum),
      'values', (SELECT json_agg(e.enumlabel ORDER BY e.enumsortorder) FROM pg_catalog.pg_enum AS e
        WHERE e.enumtypid IN (t.oid, t.typelem))) ORDER BY a.attrelid, a.attnum)
    FROM relation AS r
      JOIN pg_catalog.pg_attribute AS a ON a.attrelid = r.id AND a.attnum > 0 AND NOT a.attisdropped
      JOIN pg_catalog.pg_type AS t ON t.oid = a.atttypid
      LEFT JOIN pg_catalog.pg_attrdef AS d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
      LEFT JOIN owned AS w ON w.id = a.attrelid AND w.number = a.attnum
      LEFT JOIN pg_catalog.pg_collation AS o ON o.oid = a.attcollation AND a.attcollation <> t.typcollation),
  'constraints', (SELECT json_agg(json_build_object('table', k.conrelid, 'name', k.conname, 'kind', k.contype,
      'columns', (SELECT json_agg(a.attname ORDER BY u.place) FROM unnest(k.conkey) WITH ORDINALITY AS u (number, place)
        JOIN pg_catalog.pg_attribute AS a ON a.attrelid = k.conrelid AND a.attnum = u.number),
      'target', (SELECT json_build_object('name', c.relname, 'schema',
          CASE WHEN pg_catalog.pg_table_is_visible(c.oid) THEN NULL ELSE n.nspname END)
        FROM pg_catalog.pg_class AS c JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace WHERE c.oid = k.confrelid),
      'references', (SELECT json_agg(a.attname ORDER BY u.place) FROM unnest(k.confkey) WITH ORDINALITY AS u (number, place)
        JOIN pg_catalog.pg_attribute AS a ON a.attrelid = k.confrelid AND a.attnum = u.number),
      'onDelete', k.confdeltype, 'onUpdate', k.confupdtype, 'isDeferrable', k.condeferrable, 'isDeferred', k.condeferred,
      'isValidated', k.convalidated) ORDER BY k.conname)
    FROM relation AS r JOIN pg_catalog.pg_constraint AS k ON k.conrelid = r.id
    WHERE k.contype IN ('p', 'u', 'f', 'c', 'x') AND coalesce(to_jsonb(k) ->> 'conparentid', '0') = '0'),
  'indexes', (SELECT json_agg(json_build_object('table', i.indrelid, 'name', c.relname, 'isUnique', i.indisunique,
      'method', m.amname, 'isValid', i.indisvalid, 'condition', pg_get_expr(i.indpred, i.indrelid), 'keys', i.indnkeyatts,
      'parts', (SELECT json_agg(json_build_object('column', a.attname,
          'expression', CASE WHEN i.indkey[s - 1] = 0 THEN pg_get_indexdef(i.indexrelid, s, false) END,
          'options', i.indoption[s - 1], 'operatorClass', o.opcname, 'collation', l.collname) ORDER BY s)
        FROM generate_series(1, i.indnatts) AS s
          LEFT JOIN pg_catalog.pg_attribute AS a ON a.attrelid = i.indrelid AND a.attnum = i.indkey[s - 1] AND a.attnum > 0
          LEFT JOIN pg_catalog.pg_opclass AS o ON o.oid = i.indclass[s - 1] AND NOT o.opcdefault
          LEFT JOIN pg_catalog.pg_collation AS l ON l.oid = i.indcollation[s - 1]
            AND l.oid <> coalesce(a.attcollation, 100))) ORDER BY c.relname)
    FROM relation AS r JOIN pg_catalog.pg_index AS i ON i.indrelid = r.id
      JOIN pg_catalog.pg_class AS c ON c.oid = i.indexrelid JOIN pg_catalog.pg_am AS m ON m.oid = c.relam
    WHERE NOT EXISTS (SELECT 1 FROM pg_catalog.pg_constraint AS k
      WHERE k.conindid = i.indexrelid AND k.contype IN ('p', 'u', 'x'))),
  'others', (SELECT json_agg(json_build_object('table', o.id, 'kind', o.kind, 'name', o.name) ORDER BY o.kind, o.name) FROM (
      SELECT r.id, 'trigger' AS kind, t.tgname AS name
      FROM relation AS r JOIN pg_catalog.pg_trigger AS t ON t.tgrelid = r.id WHERE NOT t.tgisinternal
      UNION ALL SELECT r.id, 'policy', p.polname FROM relation AS r JOIN pg_catalog.pg_policy AS p ON p.polrelid = r.id
      UNION ALL SELECT r.id, 'rule', w.rulename
      FROM relation AS r JOIN pg_catalog.pg_rewrite AS w ON w.ev_class = r.id WHERE w.rulename <> '_RETURN'
      UNION ALL SELECT r.id, CASE WHEN c.relispartition THEN 'partition' ELSE 'child' END, c.relname
      FROM relation AS r JOIN pg_catalog.pg_inherits AS h ON h.inhparent = r.id
        JOIN pg_catalog.pg_class AS c ON c.oid = h.inhrelid
      UNION ALL SELECT DISTINCT r.id, CASE WHEN v.relkind = 'm' THEN 'materialized view' ELSE 'view' END, v.relname
      FROM relation AS r JOIN pg_catalog.pg_depend AS d ON d.refobjid = r.id
          AND d.refclassid = CAST('pg_catalog.pg_class' AS regclass) AND d.classid = CAST('pg_catalog.pg_rewrite' AS regclass)
        JOIN pg_catalog.pg_rewrite AS w ON w.oid = d.objid
        JOIN pg_catalog.pg_class AS v ON v.oid = w.ev_class AND v.oid <> r.id
    ) AS o),
  'enums', (SELECT json_agg(json_build_object('name', t.typname, 'schema',
      CASE WHEN pg_catalog.pg_type_is_visible(t.oid) THEN NULL ELSE n.nspname END,
      'values', (SELECT json_agg(e.enumlabel ORDER BY e.enumsortorder) FROM pg_catalog.pg_enum AS e
        WHERE e.enumtypid = t.oid)) ORDER BY n.nspname, t.typname)
    FROM pg_catalog.pg_type AS t JOIN pg_catalog.pg_namespace AS n ON n.oid = t.typnamespace
    WHERE t.typtype = 'e' AND (n.nspname = current_schema() OR n.nspname !~ '^(pg_|information_schema$|crdb_internal$)'))
) AS text) AS catalog`

/** What the statement returns, as JSON. A list without members is NULL. */
export interface CatalogRow {
  readonly schema: string | null
  readonly tables: readonly TableRow[] | null
  readonly columns: readonly ColumnRow[] | null
  readonly constraints: readonly ConstraintRow[] | null
  readonly indexes: readonly IndexRow[] | null
  readonly others: readonly { readonly table: OfTable['table']; readonly kind: string; readonly name: string }[] | null
  readonly enums:
    | readonly { readonly name: string; readonly schema: string | null; readonly values: readonly string[] | null }[]
    | null
}

/** The object id of the table: a text on some servers. */
export interface OfTable {
  readonly table: number | string
}

export interface TableRow {
  readonly id: number | string
  readonly name: string
  readonly schema: string | null
  readonly kind: string
  /** -1 for a table that was never analyzed. */
  readonly estimated: number
  readonly isLimited: boolean
  readonly comment: string | null
}

export interface ColumnRow extends OfTable {
  readonly name: string
  readonly type: string
  readonly baseType: string | null
  readonly isNotNull: boolean
  readonly isDomainNotNull: boolean
  /** The default, or the expression of a generated column. */
  readonly expression: string | null
  /** `a` always, `d` by default, else empty. */
  readonly identity: string
  /** `s` stored, `v` virtual, else empty. */
  readonly generated: string | null
  /** Whether a sequence belongs to it. */
  readonly hasOwnSequence: boolean
  /** Whether that sequence ends before the type of the column does. */
  readonly hasNarrowSequence: boolean
  readonly collation: string | null
  readonly comment: string | null
  readonly values: readonly string[] | null
}

export interface ConstraintRow extends OfTable {
  readonly name: string
  /** `p` primary key, `u` unique, `f` foreign key, `c` CHECK, `x` exclusion. */
  readonly kind: string
  readonly columns: readonly string[] | null
  readonly target: { readonly name: string; readonly schema: string | null } | null
  readonly references: readonly string[] | null
  readonly onDelete: string
  readonly onUpdate: string
  readonly isDeferrable: boolean
  readonly isDeferred: boolean
  readonly isValidated: boolean
}

export interface IndexRow extends OfTable {
  readonly name: string
  readonly isUnique: boolean
  readonly method: string
  readonly isValid: boolean
  readonly condition: string | null
  /** How many of the parts are keys; the others are included columns. */
  readonly keys: number
  readonly parts: readonly IndexPartRow[]
}

export interface IndexPartRow {
  readonly column: string | null
  readonly expression: string | null
  /** Bit 0: descending, bit 1: NULL first. */
  readonly options: number | null
  readonly operatorClass: string | null
  readonly collation: string | null
}
