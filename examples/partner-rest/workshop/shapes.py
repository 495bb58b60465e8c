"""What the API takes and gives, in its own words. FastAPI makes the OpenAPI document from this."""

from __future__ import annotations

from enum import Enum

from pydantic import BaseModel, ConfigDict, Field


class Fuel(str, Enum):
    """What drives the car."""

    PETROL = "PETROL"
    DIESEL = "DIESEL"
    CNG = "CNG"
    ELECTRIC = "ELECTRIC"
    HYBRID = "HYBRID"


class Controls(str, Enum):
    """How the car's AC is set."""

    MANUAL = "MANUAL"
    AUTOMATIC = "AUTOMATIC"
    CLIMATE_CONTROL = "CLIMATE_CONTROL"
    DUAL_ZONE = "DUAL_ZONE"


class Symptom(str, Enum):
    """What is wrong with it."""

    NOT_COOLING = "NOT_COOLING"
    INTERMITTENT = "INTERMITTENT"
    NO_AIR = "NO_AIR"
    SMELL = "SMELL"
    NOISE = "NOISE"
    CHECK_UP = "CHECK_UP"
    LEAK = "LEAK"
    ELECTRICAL = "ELECTRICAL"


class Search(BaseModel):
    """The query of a search."""

    model_config = ConfigDict(extra="forbid")

    controls: Controls
    symptom: Symptom
    home_visit: bool
    words: str = Field(default="", max_length=500, description="the customer's own words")
    fuel: Fuel | None = None
    year: int | None = Field(default=None, ge=1900, le=2200)
    latitude: float | None = Field(default=None, ge=-90, le=90)
    longitude: float | None = Field(default=None, ge=-180, le=180)
    within_km: float | None = Field(default=None, ge=0)
    starts_after: str | None = Field(default=None, max_length=40)
    ends_before: str | None = Field(default=None, max_length=40)
    authorised_only: bool = False


class Workshop(BaseModel):
    """Where, or by whom."""

    id: str
    title: str
    street: str
    kind: str
    latitude: float
    longitude: float
    away_km: float
    gas_certificate: bool


class Work(BaseModel):
    """What is done."""

    kind: str
    title: str
    steps: list[str]
    gas: str = Field(description="R134A, R1234YF or BOTH")


class Price(BaseModel):
    """Whole rupees."""

    diagnosis: int
    diagnosis_waived: bool
    labour: int
    parts: int
    gas: int
    tax: int
    total: int
    fixed: bool
    variance_percent: float


class Visit(BaseModel):
    """How the car and the work come together."""

    at_home: bool
    wait_here: bool
    collection: bool


class Guarantee(BaseModel):
    """What holds afterwards."""

    parts_months: int
    labour_months: int
    cooling_days: int
    terms: str


class Reviews(BaseModel):
    """What customers said."""

    stars: float
    count: int
    solved_percent: float


class Offer(BaseModel):
    """One slot with its price."""

    id: str
    starts_at: str
    ends_at: str
    hours: float
    same_day: bool
    workshop: Workshop
    work: Work
    price: Price
    visit: Visit
    guarantee: Guarantee
    reviews: Reviews
    link: str


class Offers(BaseModel):
    """What a search found."""

    reference: str
    valid_until: str
    count: int
    items: list[Offer]


class NewBooking(BaseModel):
    """One offer, taken."""

    model_config = ConfigDict(extra="forbid")

    offer_id: str = Field(min_length=1, max_length=200)
    phone: str = Field(pattern=r"^[0-9 ()+-]{8,20}$")
    home_address: str | None = Field(default=None, min_length=1, max_length=500)
    car: dict[str, object] = Field(min_length=1)
    complaint: dict[str, object] = Field(min_length=1)


class Booking(BaseModel):
    """A place in the diary."""

    id: str
    number: str
    offer_id: str
    starts_at: str
    ends_at: str
    work_kind: str
    total: int
    contact: str
    contact_phone: str
    pay: str
    at_home: bool


class Reason(BaseModel):
    """Why a booking is cancelled."""

    model_config = ConfigDict(extra="forbid")

    reason: str = Field(min_length=1, max_length=100)


class Cancellation(BaseModel):
    """A booking that is off."""

    booking_id: str
    at: str
    fee: int
    refund: int
    refund_days: int


class Problem(BaseModel):
    """Why the API says no."""

    code: str
    text: str


class Refused(BaseModel):
    """The body of every refusal."""

    error: Problem
