/** The controlled vocabularies of the intent. They may change only with a minor version or more. */

export const VOCABULARIES = {
  vehicle_type: ["two_wheeler", "three_wheeler", "car", "commercial"],
  fuel_type: ["petrol", "diesel", "cng", "lpg", "hybrid", "electric"],
  emission_norm: ["bs1", "bs2", "bs3", "bs4", "bs6"],
  provider_type: ["testing_centre", "fuel_station", "workshop", "mobile_unit"],
  payment_due_at: ["visit", "completion"],
  test_result: ["pass", "fail"],
};
