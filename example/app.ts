import { createApp } from 'sequitur'
import { database } from './database.js'
import { HeroController } from './heros.js'
import { HeroesController } from './heroes.js'

export const app = createApp({
  controllers: [HeroController, HeroesController],
  lifespan: database,
  info: { title: 'Heroes', version: '1.0.0', description: 'The example of Sequitur.' },
})
