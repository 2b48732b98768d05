import type { Peer } from './support/peer.js'
import { foreign, runs, startProgram } from './support/program.js'

/** That of the system, whose packages Debian has. */
const python = process.env['BENCH_PYTHON'] ?? '/usr/bin/python3'

export default {
  title: 'FastAPI + SQLAlchemy',
  databases: ['postgres'],
  missing: () =>
    runs(python, ['-c', 'import fastapi, sqlalchemy, asyncpg, uvicorn'])
      ? undefined
      : 'install python3-fastapi, python3-sqlalchemy, python3-asyncpg, uvicorn, python3-uvloop and python3-httptools',
  start: (database) => startProgram(python, [foreign('fastapi_sqlalchemy.py'), ...(database ? [database.url] : [])]),
} satisfies Peer
