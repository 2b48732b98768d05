# Prints its port, and ends with the process that has started it.
import asyncio
import os
import socket
import sys
import threading

import uvicorn
from fastapi import Depends, FastAPI, HTTPException, Query
from pydantic import BaseModel, StrictInt
from sqlalchemy import Column, Integer, String, func, select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncSession, create_async_engine
from sqlalchemy.orm import declarative_base, sessionmaker

POOL_SIZE = 10


class Hero(declarative_base()):
    __tablename__ = "hero"
    name = Column(String(255), nullable=False, unique=True)
    secret_identity = Column(String(255), nullable=False)
    age = Column(Integer, nullable=False)
    id = Column(Integer, primary_key=True)


class HeroInput(BaseModel):
    name: str
    secret_identity: str
    age: StrictInt


class HeroItem(HeroInput):
    id: int

    class Config:
        orm_mode = True


class Item(BaseModel):
    data: HeroItem


class Meta(BaseModel):
    offset: int
    total_items: int
    total_pages: int
    page_number: int


class Page(BaseModel):
    data: list[HeroItem]
    meta: Meta


app = FastAPI()
url = sys.argv[1] if len(sys.argv) > 1 else None
if url:
    engine = create_async_engine(url.replace("postgres://", "postgresql+asyncpg://"), pool_size=POOL_SIZE, max_overflow=0)
    new_session = sessionmaker(engine, class_=AsyncSession, expire_on_commit=False)


async def session():
    async with new_session() as opened:
        yield opened


@app.get("/hello")
async def hello():
    return {"hello": "world"}


@app.get("/heros", response_model=Page)
async def list_heros(
    offset: int = Query(0, ge=0), limit: int = Query(10, ge=1, le=100), session: AsyncSession = Depends(session)
):
    total = await session.scalar(select(func.count()).select_from(Hero))
    heroes = (await session.scalars(select(Hero).order_by(Hero.id).limit(limit).offset(offset))).all()
    await session.commit()
    meta = {
        "offset": offset,
        "total_items": total,
        "total_pages": -(-total // limit),
        "page_number": offset // limit + 1,
    }
    return {"data": heroes, "meta": meta}


@app.get("/heros/{hero_id}", response_model=Item)
async def get_hero(hero_id: int, session: AsyncSession = Depends(session)):
    hero = await session.get(Hero, hero_id)
    await session.commit()
    if hero is None:
        raise HTTPException(404, "Hero not found")
    return {"data": hero}


@app.post("/heros", response_model=Item, status_code=201)
async def create_hero(values: HeroInput, session: AsyncSession = Depends(session)):
    hero = Hero(**values.dict())
    session.add(hero)
    try:
        await session.commit()
    except IntegrityError:
        await session.rollback()
        raise HTTPException(409, "Duplicate hero name")
    return {"data": hero}


def end_with_parent():
    sys.stdin.read()
    os._exit(0)


# With the protocol named, asyncio sets TCP_NODELAY.
listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
listener.bind(("127.0.0.1", 0))
listener.listen(1024)
threading.Thread(target=end_with_parent, daemon=True).start()
print(listener.getsockname()[1], flush=True)
server = uvicorn.Server(uvicorn.Config(app, log_level="warning", access_log=False))
asyncio.run(server.serve(sockets=[listener]))
