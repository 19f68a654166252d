"""Functions of public packages, which know nothing of gradwalk, for `packages.py`.

`DIRECT` has functions that take and return numbers. `OTHERS` has short functions for the others, which call a package
as its users do. The packages are from PyPI; `PACKAGES` has their names there.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from functools import partial
from typing import Any

Function = Callable[..., Any]
Point = tuple[float, ...]

PACKAGES = [
    "ambiance",
    "astral",
    "chemicals",
    "colormath",
    "colorspacious",
    "fluids",
    "geographiclib",
    "geopy",
    "glicko2",
    "haversine",
    "ht",
    "iapws",
    "mibian",
    "navpy",
    "numpy-financial",
    "pvlib",
    "pymap3d",
    "pymeeus",
    "pyquaternion",
    "psychrolib",
    "pyXSteam",
    "scikit-aero",
    "seawater",
    "sgp4",
    "suncalc",
    "transforms3d",
    "trueskill",
    "utm",
    "vincenty",
]

# Maps the path of a function to the point at which it is differentiated.
DIRECT: dict[str, Point] = {
    "chemicals.heat_capacity.TRCCp": (300.0, 4.0, 7.65e5, 720.0, 3.565, -0.052, -1.55e6, 52.0, 201.0),
    "chemicals.heat_capacity.Zabransky_quasi_polynomial": (
        330.0,
        591.79,
        -3.12743,
        0.0857315,
        13.7282,
        1.28971,
        6.42297,
        4.10989,
    ),
    "chemicals.iapws.iapws95_Psat": (400.0,),
    "chemicals.iapws.iapws95_rho": (330.0, 8e5),
    "chemicals.iapws.iapws97_rho": (330.0, 8e5),
    "chemicals.interface.Brock_Bird": (293.15, 404.75, 633.0, 4530000.0),
    "chemicals.permittivity.permittivity_IAPWS": (373.0, 958.46),
    "chemicals.phase_change.Riedel": (294.0, 466.0, 5.55e6),
    "chemicals.vapor_pressure.Antoine": (100.0, 8.7687, 395.744, -6.469),
    "chemicals.vapor_pressure.Lee_Kesler": (347.2, 617.1, 36e5, 0.299),
    "chemicals.vapor_pressure.Wagner": (100.0, 190.53, 4596420.0, -6.00435, 1.1885, -0.834082, -1.22833),
    "chemicals.viscosity.Letsou_Stiel": (400.0, 46.07, 516.25, 6.383e6, 0.6371),
    "chemicals.volume.COSTALD": (272.03889, 369.83333, 0.20008161, 0.1532),
    "chemicals.volume.Rackett": (272.03889, 369.83, 4248000.0, 0.2763),
    "astral.sun.eq_of_time": (0.2,),
    "astral.sun.refraction_at_zenith": (85.0,),
    "astral.sun.sun_declination": (0.2,),
    "fluids.compressible.T_critical_flow": (473.0, 1.289),
    "fluids.control_valve.size_control_valve_l": (965.4, 70.1e3, 22120e3, 3.1472e-4, 680e3, 220e3, 0.1),
    "fluids.core.K_from_f": (0.02, 100.0, 0.1),
    "fluids.core.Reynolds": (2.5, 0.25, 1.1, 1e-5),
    "fluids.drag.Almedeij": (200.0,),
    "fluids.drag.Barati": (200.0,),
    "fluids.drag.v_terminal": (70e-6, 2600.0, 1000.0, 1e-3),
    "fluids.fittings.contraction_sharp": (1.0, 0.4),
    "fluids.fittings.entrance_beveled": (0.1, 0.003, 45.0),
    "fluids.flow_meter.C_Reader_Harris_Gallagher": (0.07391, 0.0222, 1.1645, 0.0000185, 0.12),
    "fluids.friction.Churchill_1977": (1e5, 1e-4),
    "fluids.friction.Clamond": (1e5, 1e-4),
    "fluids.friction.Colebrook": (1e5, 1e-4),
    "fluids.friction.Haaland": (1e5, 1e-4),
    "fluids.friction.friction_factor": (1e5, 1e-4),
    "fluids.packed_bed.Ergun": (8e-4, 0.4, 1e-3, 1e3, 1e-3),
    "fluids.two_phase.Friedel": (0.6, 0.1, 915.0, 2.67, 180e-6, 14e-6, 0.0487, 0.05),
    "fluids.two_phase.Lockhart_Martinelli": (0.6, 0.1, 915.0, 2.67, 180e-6, 14e-6, 0.05),
    "ht.boiling_nucleic.Cooper": (6.0, 101325.0, 22048321.0, 18.02),
    "ht.condensation.Nusselt_laminar": (370.0, 350.0, 7.0, 585.0, 0.091, 158.9e-6, 776900.0, 0.1),
    "ht.conv_external.Nu_cylinder_Zukauskas": (7992.0, 0.707, 0.69),
    "ht.conv_free_immersed.Nu_vertical_plate_Churchill": (0.69, 2.63e9),
    "ht.conv_internal.turbulent_Gnielinski": (1e5, 1.2, 0.0185),
    "ht.core.LMTD": (100.0, 60.0, 30.0, 40.2),
    "ht.hx.NTU_from_effectiveness": (0.9, 0.5),
    "ht.hx.effectiveness_from_NTU": (5.0, 0.7),
    "ht.radiation.blackbody_spectral_radiance": (800.0, 4e-6),
    "iapws._iapws._Dielectric": (999.0, 298.15),
    "iapws._iapws._Viscosity": (998.0, 298.15),
    "iapws.iapws97._TSat_P": (1.0,),
    "numpy_financial.pmt": (0.005, 360.0, 200000.0),
    "pvlib.atmosphere.alt2pres": (1000.0,),
    "pvlib.atmosphere.get_relative_airmass": (40.0,),
    "pvlib.iam.ashrae": (30.0,),
    "pvlib.iam.physical": (30.0,),
    "pvlib.irradiance.aoi": (30.0, 180.0, 40.0, 170.0),
    "pvlib.temperature.faiman": (900.0, 20.0, 5.0),
    "pymap3d.haversine.anglesep": (0.5, 1.0, 0.6, 1.2),
    "seawater.dens": (35.0, 15.0, 100.0),
}


def of(path: str) -> Any:
    """Return an object of a package, given its path, such as "fluids.friction.Haaland"."""
    module, _, name = path.rpartition(".")
    return getattr(importlib.import_module(module), name)


def _sgp4(inclination: float, eccentricity: float, anomaly: float, motion: float) -> Any:
    model = importlib.import_module("sgp4.model")
    satellite = model.Satrec()
    satellite.sgp4init(
        model.WGS72, "i", 5, 18441.78, 2.8e-5, 0.0, 0.0, eccentricity, 1.1, inclination, anomaly, motion, 0.5
    )
    return satellite.sgp4_tsince(100.0)[1][0]


def _trueskill(part: str, a: float, b: float, c: float, d: float) -> Any:
    package = importlib.import_module("trueskill")
    first, second = package.Rating(a, b), package.Rating(c, d)
    return package.rate_1vs1(first, second)[0].mu if part == "mu" else package.quality_1vs1(first, second)


def _glicko2(rating: float, deviation: float, other: float, its_deviation: float) -> Any:
    player = of("glicko2.Player")(rating=rating, rd=deviation)
    player.update_player([other], [its_deviation], [1])
    return player.rating


def _color(start: str, end: str, name: str, *numbers: float) -> Any:
    objects = importlib.import_module("colormath.color_objects")
    convert = of("colormath.color_conversions.convert_color")
    return getattr(convert(getattr(objects, start)(*numbers), getattr(objects, end)), name)


def _steam(name: str, *numbers: float) -> Any:
    tables = of("pyXSteam.XSteam.XSteam")
    return getattr(tables(tables.UNIT_SYSTEM_MKS), name)(*numbers)


def _suncalc(longitude: float, latitude: float) -> Any:
    day = importlib.import_module("datetime").datetime(2024, 6, 1, 12)
    return of("suncalc.get_position")(day, longitude, latitude)["altitude"]


def _quaternion(angle: float, x: float, y: float) -> Any:
    return of("pyquaternion.Quaternion")(axis=[0, 0, 1], angle=angle).rotate([x, y, 0.1])[0]


def _psychrometric(name: str, *numbers: float) -> Any:
    library = importlib.import_module("psychrolib")
    library.SetUnitSystem(library.SI)
    return getattr(library, name)(*numbers)


def _item(path: str, key: Any, *numbers: float) -> Any:
    """Call a function and return one item of its result."""
    return of(path)(*numbers)[key]


def _pairs(path: str, *numbers: float) -> Any:
    """Call a function of two points."""
    return of(path)(numbers[:2], numbers[2:])


def _geodesic(name: str, key: str, *numbers: float) -> Any:
    return getattr(of("geographiclib.geodesic.Geodesic").WGS84, name)(*numbers)[key]


# Maps a description to a function and the point at which it is differentiated.
OTHERS: dict[str, tuple[Function, Point]] = {
    "ambiance: density": (lambda h: of("ambiance.Atmosphere")(h).density[0], (5000.0,)),
    "astral: hour_angle": (
        lambda *a: of("astral.sun.hour_angle")(*a, of("astral.SunDirection").RISING),
        (51.5, 10.0, 90.8),
    ),
    "colormath: XYZ to Lab": (partial(_color, "XYZColor", "LabColor", "lab_a"), (0.4, 0.5, 0.6)),
    "colormath: sRGB to Lab": (partial(_color, "sRGBColor", "LabColor", "lab_l"), (0.4, 0.5, 0.6)),
    "colorspacious: Lab to XYZ": (
        lambda *lab: of("colorspacious.cspace_convert")(list(lab), "CIELab", "XYZ1")[0],
        (50.0, 10.0, 20.0),
    ),
    "fluids: ATMOSPHERE_1976": (lambda z: of("fluids.atmosphere.ATMOSPHERE_1976")(z).rho, (5000.0,)),
    "geographiclib: Direct, latitude": (partial(_geodesic, "Direct", "lat2"), (40.6, -73.8, 45.0, 1e6)),
    "geographiclib: Direct, longitude": (partial(_geodesic, "Direct", "lon2"), (40.6, -73.8, 45.0, 1e6)),
    "geographiclib: Inverse": (partial(_geodesic, "Inverse", "s12"), (40.6, -73.8, 51.6, -0.5)),
    "geographiclib, geopy: geodesic": (
        lambda *a: _pairs("geopy.distance.geodesic", *a).km,
        (41.49, -71.31, 40.2, -81.69),
    ),
    "geopy: great_circle": (lambda *a: _pairs("geopy.distance.great_circle", *a).km, (41.49, -71.31, 41.49, -81.69)),
    "glicko2: rating": (_glicko2, (1500.0, 200.0, 1400.0, 30.0)),
    "haversine: haversine": (partial(_pairs, "haversine.haversine"), (45.75, 4.84, 48.85, 2.35)),
    "iapws: IAPWS97, enthalpy": (lambda t, p: of("iapws.IAPWS97")(T=t, P=p).h, (450.0, 1.0)),
    "iapws: ice, density": (partial(_item, "iapws._iapws._Ice", "rho"), (260.0, 1.0)),
    "iapws: region 1, volume": (partial(_item, "iapws.iapws97._Region1", "v"), (300.0, 3.0)),
    "mibian: Black-Scholes": (
        lambda s, k, r, days, v: of("mibian.BS")([s, k, r, days], volatility=v).callPrice,
        (100.0, 95.0, 5.0, 60.0, 25.0),
    ),
    "navpy: lla2ecef": (partial(_item, "navpy.lla2ecef", 0), (40.0, -80.0, 100.0)),
    "numpy-financial: npv": (
        lambda rate, *flow: of("numpy_financial.npv")(rate, list(flow)),
        (0.08, -100.0, 60.0, 70.0),
    ),
    "psychrolib: GetHumRatioFromRelHum": (partial(_psychrometric, "GetHumRatioFromRelHum"), (25.0, 0.5, 101325.0)),
    "psychrolib: GetMoistAirDensity": (partial(_psychrometric, "GetMoistAirDensity"), (25.0, 0.01, 101325.0)),
    "psychrolib: GetMoistAirEnthalpy": (partial(_psychrometric, "GetMoistAirEnthalpy"), (25.0, 0.01)),
    "psychrolib: GetSatVapPres": (partial(_psychrometric, "GetSatVapPres"), (25.0,)),
    "psychrolib: GetTDewPointFromRelHum": (partial(_psychrometric, "GetTDewPointFromRelHum"), (25.0, 0.5)),
    "psychrolib: GetTWetBulbFromRelHum": (partial(_psychrometric, "GetTWetBulbFromRelHum"), (25.0, 0.5, 101325.0)),
    "pvlib: bird": (partial(_item, "pvlib.clearsky.bird", "ghi"), (40.0, 1.5, 0.1, 0.1, 0.3, 1.5)),
    "pvlib: sapm_cell": (
        lambda *a: of("pvlib.temperature.sapm_cell")(*a, -3.47, -0.0594, 3),
        (900.0, 20.0, 5.0),
    ),
    "pymap3d: ecef2geodetic": (partial(_item, "pymap3d.ecef2geodetic", 2), (660675.2, -4700948.7, 4245737.7)),
    "pymap3d: geodetic2aer": (
        partial(_item, "pymap3d.geodetic2aer", 0),
        (42.0, -82.0, 1000.0, 42.1, -82.1, 200.0),
    ),
    "pymap3d: geodetic2ecef": (partial(_item, "pymap3d.geodetic2ecef", 0), (42.0, -82.0, 200.0)),
    "pymap3d: vdist": (partial(_item, "pymap3d.vincenty.vdist", 0), (42.0, -82.0, 42.1, -82.1)),
    "pymeeus: longitude of the sun": (
        lambda day: float(
            of("pymeeus.Sun.Sun").apparent_longitude_coarse(of("pymeeus.Epoch.Epoch")(2451545.0 + day))[1]
        ),
        (0.0,),
    ),
    "pyquaternion: rotate": (_quaternion, (0.5, 0.3, 0.2)),
    "pyXSteam: h_pt": (partial(_steam, "h_pt"), (10.0, 300.0)),
    "pyXSteam: tsat_p": (partial(_steam, "tsat_p"), (10.0,)),
    "scikit-aero: isentropic flow": (
        lambda mach: of("skaero.gasdynamics.isentropic.IsentropicFlow")(1.4).p_p0(mach),
        (2.0,),
    ),
    "sgp4: position": (_sgp4, (0.9, 0.001, 2.0, 0.06)),
    "suncalc: altitude": (_suncalc, (-122.4, 37.7)),
    "transforms3d: euler2mat": (
        lambda *a: of("transforms3d.euler.euler2mat")(*a)[0, 1],
        (0.5, 0.3, 0.2),
    ),
    "trueskill: quality": (partial(_trueskill, "quality"), (25.0, 8.3, 30.0, 6.0)),
    "trueskill: rating": (partial(_trueskill, "mu"), (25.0, 8.3, 30.0, 6.0)),
    "utm: easting": (partial(_item, "utm.from_latlon", 0), (51.2, 7.5)),
    "utm: latitude": (lambda e, n: of("utm.to_latlon")(e, n, 32, "U")[0], (395201.3, 5673135.2)),
    "utm: northing": (partial(_item, "utm.from_latlon", 1), (51.2, 7.5)),
    "vincenty: distance": (partial(_pairs, "vincenty.vincenty"), (42.35, -71.06, 40.71, -74.0)),
}


def functions() -> dict[str, tuple[Function, Point]]:
    """Return all functions with their points, in alphabetical order."""
    direct = {path: (lambda *numbers, path=path: of(path)(*numbers), point) for path, point in DIRECT.items()}
    return dict(sorted((direct | OTHERS).items(), key=lambda item: item[0].lower()))
