import { type MigratedDatabase, plainFile, stepsFile } from '../migration-folder.js'

/*
 * Migrations with every kind of step. What is executed twice shows: counters are too high, notes are there twice.
 */

export const HEROES = 30

const CREATE_HERO = plainFile(`  await context.createTable('hero', {
    id: { type: types.INTEGER, primaryKey: true },
    name: { type: types.STRING(50), allowNull: false },
    count: { type: types.INTEGER, allowNull: false, defaultValue: 0 },
  })`)

const ADD_HEROES = `steps.run(async (session) => {
  for (let id = 1; id <= ${HEROES}; id += 10)
    await session.execute(sql\`INSERT INTO hero (id, name) VALUES (\${id}, \${'hero ' + id}), (\${id + 1}, 'b'), (\${id + 2}, 'c'),
      (\${id + 3}, 'd'), (\${id + 4}, 'e'), (\${id + 5}, 'f'), (\${id + 6}, 'g'), (\${id + 7}, 'h'), (\${id + 8}, 'i'), (\${id + 9}, 'j')\`)
})`

const COUNT = `steps.batches('hero', 'id', 8, sql\`UPDATE hero SET count = count + 1 WHERE id > \${2} OR name = 'b'\`)`
const NOTE = `sql\`INSERT INTO note (text) VALUES ('counted')\``

const POSTGRES = {
  '0001-hero.js': CREATE_HERO,
  '0002-rows.js': stepsFile(
    'postgres',
    `sql\`CREATE TYPE mood AS ENUM ('calm')\`, sql\`CREATE TABLE note (text VARCHAR(20))\`, ${ADD_HEROES},
    sql\`ALTER TABLE hero ADD COLUMN power VARCHAR(20)\``,
  ),
  '0003-mixed.js': stepsFile(
    'postgres',
    `sql\`ALTER TABLE hero ADD COLUMN mood mood\`, ${NOTE},
    steps.alone(sql\`CREATE INDEX CONCURRENTLY IF NOT EXISTS hero_power ON hero (power)\`),
    ${COUNT},
    ${NOTE},
    steps.alone(sql\`ALTER TYPE mood ADD VALUE IF NOT EXISTS 'angry'\`),
    steps.alone(sql\`ALTER TABLE note ADD COLUMN id SERIAL\`, {
      done: sql\`SELECT 1 FROM information_schema.columns WHERE table_name = 'note' AND column_name = 'id'\`,
    }),
    sql\`ALTER TABLE hero ALTER COLUMN mood SET DEFAULT 'angry'\``,
  ),
}

const MARIADB = {
  '0001-hero.js': CREATE_HERO,
  '0002-rows.js': stepsFile('mariadb', `sql\`CREATE TABLE note (text VARCHAR(20))\`, ${ADD_HEROES}`),
  '0003-mixed.js': stepsFile(
    'mariadb',
    `sql\`ALTER TABLE hero ADD COLUMN power VARCHAR(20)\`, ${NOTE},
    sql\`CREATE INDEX hero_power ON hero (power)\`,
    ${COUNT},
    ${NOTE},
    steps.alone(sql\`ALTER TABLE note ADD COLUMN id INTEGER NOT NULL AUTO_INCREMENT PRIMARY KEY\`, {
      done: sql\`SELECT 1 FROM information_schema.columns WHERE table_schema = DATABASE() AND table_name = 'note' AND column_name = 'id'\`,
    }),
    sql\`RENAME TABLE note TO remark\``,
  ),
}

const SQLITE = {
  '0001-hero.js': CREATE_HERO,
  '0002-rows.js': stepsFile(
    'sqlite',
    `sql\`CREATE TABLE note (text VARCHAR(20))\`, ${ADD_HEROES}, sql\`CREATE TABLE cape (hero_id INTEGER REFERENCES hero (id) ON DELETE CASCADE)\`,
    sql\`INSERT INTO cape SELECT id FROM hero\``,
  ),
  '0003-mixed.js': stepsFile(
    'sqlite',
    `sql\`CREATE TABLE hero_new (id INTEGER PRIMARY KEY, name TEXT NOT NULL, count INTEGER NOT NULL, power TEXT)\`,
    sql\`INSERT INTO hero_new (id, name, count) SELECT id, name, count FROM hero\`,
    sql\`DROP TABLE hero\`,
    sql\`ALTER TABLE hero_new RENAME TO hero\`,
    ${NOTE},
    steps.alone(sql\`VACUUM\`),
    ${COUNT},
    ${NOTE}`,
  ),
}

export const FILES: Readonly<Record<MigratedDatabase['kind'], Readonly<Record<string, string>>>> = {
  postgres: POSTGRES,
  mariadb: MARIADB,
  sqlite: SQLITE,
}
