import { Controller, Field, Get, Query, select, sql } from 'sequitur'
import { Rows, rows } from 'sequitur/exports'
import { Op } from 'sequelize'
import { Hero } from '../hero.js'

class HeroRow {
  @Field({ type: 'integer' }) id!: number
  @Field() name!: string
  @Field({ type: 'integer' }) age!: number
}

class AgeRow {
  @Field({ type: 'integer' }) age!: number
  @Field({ type: 'bigint' }) heroes!: string
}

@Controller('/exports')
export class ExportController {
  @Get('/heroes', Rows.of(HeroRow))
  heroes(@Query({ type: 'integer', default: 0 }) min_age: number) {
    return rows(select(Hero, { where: { age: { [Op.gte]: min_age } }, order: ['id'] }), { name: 'heroes' })
  }

  @Get('/ages', Rows.of(AgeRow, { atOnce: 2, spreadsheets: true }))
  ages() {
    return rows(sql<AgeRow>`SELECT age, count(*) AS heroes FROM hero GROUP BY age ORDER BY age`)
  }
}
