import { Controller, Cookie, dto, Field, Get, Header, Post, Query, Request } from 'sequitur'
import { Hero } from '../hero.js'

class HeroFilter {
  @Field({ optional: true }) team?: string
  @Field({ type: 'integer', minimum: 0, default: 0 }) min_age!: number
}

class NewHero extends dto(Hero, { omit: ['id'] }) {}

@Controller('/parameters')
export class ParameterController {
  @Get('/:hero_id')
  read(
    hero_id: number, // the path variable of this name
    @Query({ type: [String], default: [] }) tag: string[], // ?tag=a&tag=b
    @Query({ enum: ['asc', 'desc'], default: 'asc' }) order: string,
    @Query() filter: HeroFilter, // ?team=Justice League&min_age=18
    @Header({ default: 'en' }) accept_language: string,
    @Cookie({ enum: ['dark', 'light'], default: 'light' }) theme: string,
    request: Request,
    signal: AbortSignal,
    limit: number = 10, // ?limit=20
  ) {
    const { method, path } = request
    return {
      hero_id,
      tag,
      order,
      filter: { ...filter },
      accept_language,
      theme,
      limit,
      method,
      path,
      late: signal.aborted,
    }
  }

  @Post('/')
  create(input: NewHero) {
    return { name: input.name } // input is the JSON body
  }
}
