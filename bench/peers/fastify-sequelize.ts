import { UniqueConstraintError } from 'sequelize'
import { startFastify } from './support/fastify-app.js'
import type { Peer } from './support/peer.js'
import { Heroes } from './support/sequelize-heroes.js'

export default {
  title: 'Fastify + Sequelize',
  databases: ['postgres', 'mariadb'],
  start: startFastify(
    (database) => new Heroes(database),
    (error) => error instanceof UniqueConstraintError,
  ),
} satisfies Peer
