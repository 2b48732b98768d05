// Starts an app on the database of its environment, and prints the packages that this has loaded, and `undici`, the code of Node's fetch().
import { createRequire } from 'node:module'
import { Column, DataType, Table } from 'sequelize-typescript'
import { Base, Controller, createApp, Field, Get, newLifespan, Page, Paginate, Post, select } from 'sequitur'

@Table({ tableName: 'hero', timestamps: false })
class Hero extends Base<Hero> {
  @Column({ type: DataType.STRING, allowNull: false }) declare name: string
}

class HeroModel {
  @Field({ maxLength: 20, pattern: /^[A-Z]/ }) name!: string
}
class NewHero extends HeroModel {
  @Field({ type: 'integer', minimum: 1 }) level = 1
}

@Controller('/heroes')
class Heroes {
  @Get('/', Page.of(HeroModel)) list(paginate: Paginate<HeroModel>) {
    return paginate(select(Hero))
  }
  @Post('/') create(hero: NewHero) {
    return hero.name
  }
}

const lifespan = newLifespan(undefined, { sync: true })
const app = createApp({ controllers: [Heroes], models: [Hero], lifespan, logger: false })
await app.start()
const files = Object.keys(createRequire(import.meta.url).cache)
const packages = files.flatMap((file) => /.*node_modules.((?:@[^/\\]+.)?[^/\\]+)/.exec(file)?.[1] ?? [])
const { moduleLoadList } = process as unknown as { readonly moduleLoadList: readonly string[] } // of Node, not in its types
const fetching = moduleLoadList.some((name) => name.endsWith('/undici')) ? ['undici'] : []
console.log(JSON.stringify([...packages, ...fetching]))
await app.close()
