//! Settings of the four mechanisms (not yet in force).
