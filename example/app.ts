import { createApp } from 'sequitur'
import { AccountController } from './account.js'
import { CursorHeroController } from './cursor-heros.js'
import { database } from './database.js'
import { HeroController } from './heros.js'
import { HeroesController } from './heroes.js'
import { LiveHeroController } from './live-heroes.js'

export const app = createApp({
  controllers: [HeroController, HeroesController, CursorHeroController, LiveHeroController, AccountController],
  lifespan: database,
  info: {
    title: 'Heroes',
    version: '1.0.0',
    description: 'Heroes and their secret identities: the example of Sequitur, in four styles.',
    license: { name: 'MIT', identifier: 'MIT' },
  },
  tags: [
    { name: 'Hero', description: 'An input class and an output class beside the model' },
    { name: 'Heroes', description: 'One declaration: the model is the output, the input is derived from it' },
    { name: 'CursorHero', description: 'Pages by cursor, for "Load more"' },
    { name: 'LiveHero', description: 'Heroes that all browsers display as they are: open /live in two windows' },
    { name: 'Account', description: 'Authentication by a bearer token' },
  ],
})
