import { createApp } from 'sequitur'
import { CursorHeroController } from './cursor-heros.js'
import { database } from './database.js'
import { HeroController } from './heros.js'
import { HeroesController } from './heroes.js'

export const app = createApp({
  controllers: [HeroController, HeroesController, CursorHeroController],
  lifespan: database,
  info: { title: 'Heroes', version: '1.0.0', description: 'The example of Sequitur.' },
})
