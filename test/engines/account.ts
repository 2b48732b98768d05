import { Sequelize } from 'sequelize-typescript'
import { Account } from '../../example/recipes/welcome.js'

/*
 * What test/engines/bullmq-program.ts imports of its project: a model, and its database in memory.
 */

export const sequelize = new Sequelize({ dialect: 'sqlite', storage: ':memory:', models: [Account], logging: false })
await sequelize.sync()

export { Account }
