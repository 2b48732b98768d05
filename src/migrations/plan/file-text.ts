import type { DatabaseKind, TableName } from '../../db/catalog/catalog.js'
import { displayOf } from '../difference/change.js'
import { BATCH_SIZE, type PlannedFile, type StepCode } from './planned.js'

const IMPORT = `import { steps, sql } from 'sequitur/migrations'`

/**
 * The text of a migration file.
 *
 * @param version that of the program, after which drops may run.
 */
export function fileText(kind: DatabaseKind, { steps, contract }: PlannedFile, version: string | undefined): string {
  const lines = steps.map(
    ({ code, isApart }) => `${isApart === true ? '  steps.commit(),\n' : ''}  ${stepText(code)},\n`,
  )
  const head = contract ? `${contractComment(version)}\n${IMPORT}` : IMPORT
  return `${head}\n\nexport default steps('${kind}', [\n${lines.join('')}])\n`
}

function contractComment(version: string | undefined): string {
  const release = version === undefined ? 'the release that is in development' : `the release after ${version}`
  return [
    `// Deletes what older versions of the program read or write. It may run once ${release} is`,
    `// everywhere, and no older version runs any more.`,
  ].join('\n')
}

function stepText(code: StepCode): string {
  if (code.kind === 'sql') return sqlText(code.sql)
  if (code.kind === 'batches') {
    const size = BATCH_SIZE.toLocaleString('en-US').replace(',', '_')
    return `steps.batches(${tableLiteral(code.table)}, ${literal(code.key)}, ${size}, ${sqlText(code.sql)})`
  }
  const done = code.done === undefined ? '' : `, {\n    done: ${sqlText(code.done)},\n  }`
  const again = code.again === true ? ', { again: true }' : ''
  return `steps.alone(${sqlText(code.sql)}${done}${again})`
}

/** A template, whose further lines are indented like the first one, unless one of them is in a text. */
function sqlText(sql: string): string {
  const lines = sql.split('\n')
  const mayIndent = lines.every((line) => (line.match(/['"`]/g) ?? []).length % 2 === 0)
  const escaped = (mayIndent ? lines.join('\n  ') : sql)
    .replaceAll('\\', '\\\\')
    .replaceAll('`', '\\`')
    .replaceAll('${', '\\${')
  return `sql\`${escaped}\``
}

/** With a dot in one of its names, the table is no text: it would be one of a schema. */
function tableLiteral({ schema, name }: TableName): string {
  if (!name.includes('.') && schema?.includes('.') !== true)
    return literal(displayOf({ ...(schema === undefined ? {} : { schema }), name }))
  return `{ ${schema === undefined ? '' : `schema: ${literal(schema)}, `}name: ${literal(name)} }`
}

function literal(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`
}
