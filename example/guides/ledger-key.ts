import { sql, steps } from 'sequitur/migrations'

export default steps('postgres', [
  steps.alone(sql`CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS ledger_key ON ledger (year, month, currency)`),
  sql`ALTER TABLE ledger DROP CONSTRAINT ledger_pkey, ADD CONSTRAINT ledger_pkey PRIMARY KEY USING INDEX ledger_key`,
])
