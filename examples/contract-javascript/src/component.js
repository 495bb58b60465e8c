/**
 * The component's entry: the contract, and with it the one import that it has. Apart from `contract.js`, so that Node,
 * which has no such import, runs everything else.
 */

import faults from "intent-gateway:contract/faults@1.0.0";

import { contract as functions } from "./contract.js";
import { telling } from "./kit/faults.js";

export const contract = telling(functions, faults.report);
