/** The card of an option, for the generic listings widget. */

/** The widget and how its fields are filled. */
export const WIDGET = {
  widgetType: "generic_listings",
  preferred: null,
  slots: [
    { name: "header", source: "provider.name" },
    { name: "subline_1", source: "provider.provider_type and provider.distance_from_user_km" },
    { name: "subline_2", source: "slot_window.start and slot_window.typical_duration_minutes" },
    { name: "price", source: "price.total_inr" },
    { name: "pill", source: "certificate.validity_months" },
    { name: "badge", source: "test.uploads_to_vahan; null where it is false" },
  ],
};

const PROVIDER_LABELS = {
  testing_centre: "Testing centre",
  fuel_station: "Fuel station",
  workshop: "Workshop",
  mobile_unit: "Mobile unit",
};

/** A card; its keys are those of `WIDGET`. */
export const cardOf = ({ provider, slot_window, price, certificate, test }) => ({
  header: provider.name,
  subline_1: `${PROVIDER_LABELS[provider.provider_type]} · ${provider.distance_from_user_km.toFixed(1)} km`,
  subline_2: `${slot_window.start} · ${slot_window.typical_duration_minutes} min`,
  price: { amount_inr: price.total_inr, currency: "INR" },
  pill: `Valid ${certificate.validity_months} months`,
  badge: test.uploads_to_vahan ? "Entered in VAHAN" : null,
});
