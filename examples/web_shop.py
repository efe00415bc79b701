"""A web shop on FastAPI that sends orders and bills them: one process, one loop, one client.

    uvicorn examples.web_shop:web

POST /orders sends; a handler of the same process bills; GET /billed shows what it has billed. The
address of the name server is in AEROBEE_NAMESRV, localhost:9876 if it is not set.
"""

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import FastAPI

import aerobee as mq

app = mq.App(os.environ.get("AEROBEE_NAMESRV", "localhost:9876"))
billed: list[int] = []


@app.consumer("orders", group="billing", start="earliest")
async def bill(order: dict[str, int]) -> None:
    billed.append(order["id"])


@asynccontextmanager
async def lifespan(web: FastAPI) -> AsyncIterator[None]:
    async with app:  # joins the group; leaves it when the web server stops
        yield


web = FastAPI(lifespan=lifespan)


@web.post("/orders")
async def order(number: int) -> dict[str, str]:
    receipt = await app.client.send("orders", {"id": number}, keys=[str(number)])
    return {"message_id": receipt.message_id}


@web.get("/billed")
async def show() -> list[int]:
    return billed
